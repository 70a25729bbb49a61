// SPDX-License-Identifier: Apache-2.0
// Compile one kernel of a module for one launch shape. The only door into codegen for the driver and the tools.
#pragma once
#include <functional>
#include <memory>

#include "codegen/code_facts.h"
#include "device/abi/kernel_code.h"
#include "ir/ir.h"

namespace us::codegen {

struct Options : CodeChoices {
  std::string cpu;                               // LLVM CPU name; empty = host
  std::string cache_dir;                         // empty = no object cache
  std::function<void(std::string_view)> report;  // text for the person: why the object cache is not used
  std::function<void(std::string_view)> show;    // times and dumps of passes, as the fields below ask for
  bool time_passes = false;
  bool verify_passes = false;  // ir::verify after each pass
  std::string dump_after;      // pass name or "all"
};

class Compiled : public device::KernelCode {
 public:
  bool from_cache = false;
  double compile_ms = 0;
};

// Thread safe. The module must outlive the result.
class Jit {
 public:
  explicit Jit(Options);
  ~Jit();
  Result<std::shared_ptr<const Compiled>> compile(const ir::Module&, const std::string& kernel, const Variant&);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace us::codegen
