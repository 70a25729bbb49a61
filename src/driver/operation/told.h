// SPDX-License-Identifier: Apache-2.0
// What the observer of the process is told about a piece of work, besides its place in the work graph.
#pragma once
#include <memory>

#include "driver/memory/copy.h"
#include "probe/observer.h"

namespace us::memory {
class Registry;
}

namespace us::driver {

class Told {
 public:
  explicit Told(const memory::Registry& m) : memory_(m) {}
  std::unique_ptr<probe::Work> copy(const Copy&) const;
  std::unique_ptr<probe::Work> fill(const Fill&) const;
  std::unique_ptr<probe::Work> allocation(u64 address) const;  // of a graph's node
  std::unique_ptr<probe::Work> free(u64 address) const;
  std::unique_ptr<probe::Work> other(const char* what) const;

 private:
  std::vector<probe::Range> rows(u64 at, u64 width, u64 height, u64 depth, u64 pitch, u64 slice) const;
  probe::Work::End end_at(u64 address, bool array) const;
  const memory::Registry& memory_;
};

}  // namespace us::driver
