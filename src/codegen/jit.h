// SPDX-License-Identifier: Apache-2.0
// Compile one kernel of a module for one launch shape. The only door into codegen for the driver and the tools.
#pragma once
#include <functional>
#include <memory>

#include "device/abi/kernel_code.h"
#include "ir/ir.h"

namespace us::codegen {

struct Variant {
  device::Dim3 block{0, 0, 0};  // 0 = generic
  device::Dim3 cluster{1, 1, 1};
  bool asks = false;  // accesses to global memory ask the device first: it is one of several, or memory is registered
  bool usual_space = false;  // device memory is at AddressSpace::kUsualStart
  bool dependent = false;    // launched to run beside its predecessors: griddepcontrol.wait has something to wait for
};

struct Options {
  std::string cpu;                               // LLVM CPU name; empty = host
  std::string cache_dir;                         // empty = no object cache
  std::function<void(std::string_view)> report;  // text for the person: why the object cache is not used
  bool time_passes = false;
  std::string dump_after;        // pass name or "all"
  bool force_varying = false;    // no uniform or pattern shapes: for cross checks
  bool deferred_copies = false;  // asynchronous copies go through the copy engine, which may deliver them late
  bool fast_math = false;        // approximate f32 instructions within their bounds, not with the bits of the device
  u32 many_blocks =
      300;  // a function of more blocks than this gets the cheaper form (llvm/forget.cpp, promote_slots.h)
  bool force_its = false;  // every function in independent-thread-scheduling mode: for cross checks
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
