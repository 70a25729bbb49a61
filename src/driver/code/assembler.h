// SPDX-License-Identifier: Apache-2.0
// The assembler of the user's CUDA toolkit, asked what a module would need on the device. It is never needed: who has
// none gets estimates.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "driver/code/facts_cache.h"
#include "driver/code/kept_files.h"
#include "ptx/fatbin.h"
#include "sass/cubin.h"
#include "sass/image.h"

namespace us::driver {

// What a program carries for a device beside machine code that is ready: PTX, and machine code that waits to be linked.
struct Parts {
  std::vector<ptx::Image> ptx;
  std::vector<std::string> objects;
};

class Assembler {
 public:
  // A path; "none": there is none; empty: all that are found, where the first does not know the version of the PTX.
  Assembler(std::string ptxas, std::string cache_dir);
  // Waits for the assembler, unless an earlier run of any process left the answer. Nothing: no assembler, or it failed.
  std::optional<sass::Cubin> ask(const Parts&, u32 sm);
  bool absent();  // nothing will come of asking
  // The machine code of one text, with tables of lines: an ELF. What the assembler complains about is in the Diag.
  static Result<std::string> machine_code(const std::string& ptxas, const ptx::Image&, u32 sm);
  // The same, read: only of devices whose code can be. An earlier run of any process may have left it.
  Result<sass::Image> image(const ptx::Image&, u32 sm);
  static std::string find();  // the first of find_assemblers(); empty if there is none

 private:
  std::vector<std::string> programs() const;  // those to ask, one after the other
  static std::string key_of(const std::string& ptxas, const Parts&, u32 sm);
  std::mutex m_;  // guards absent_ and what is asked
  const std::string ptxas_;
  std::optional<bool> absent_;
  FactsCache cache_;
  const KeptFiles made_;
};

}  // namespace us::driver
