// SPDX-License-Identifier: Apache-2.0
// What the kernels of a process executed, by source line: the sum of what listeners counted (probe/counts.h).
#pragma once
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "probe/listener.h"

namespace us::driver {

class Counts {
 public:
  static constexpr std::array<const char*, 4> kSpaces = {"global", "shared", "local", "generic"};
  struct Line {
    std::string place;  // "file.cu:12", and the calls that were inlined; without -lineinfo "PTX line 7"
    u64 warps = 0, lanes = 0;
    std::array<u64, 4> read{}, written{};  // bytes, by kSpaces
    u64 barriers = 0;                      // warps that came to a barrier of their CTA or cluster
    u64 copies = 0;                        // lanes that issued an asynchronous copy, store or reduction; bytes: none
  };
  struct Kernel {
    std::string name;
    u64 launches = 0;
    std::vector<Line> lines;  // in the order of the file; of those that were executed
  };

  // Of one launch; adds up when it has ended.
  std::shared_ptr<probe::Listener> listen(const ir::Module&, const ir::Function& kernel, u32 workers);
  std::vector<Kernel> kernels() const;
  std::string text() const;
  std::string json() const;  // an array

 private:
  struct Of;
  class Launched;
  mutable std::mutex mutex_;                            // guards kernels_ and what is added up in them
  std::map<std::string, std::shared_ptr<Of>> kernels_;  // by the module's hash and the kernel's name
};

}  // namespace us::driver
