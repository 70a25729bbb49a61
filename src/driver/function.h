// SPDX-License-Identifier: Apache-2.0
// A kernel in a context: what the compiler knows about it, what the program set on it, and its compiled variants.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codegen/jit.h"
#include "driver/device_spec.h"
#include "driver/error.h"

namespace us::driver {

class Module;
class Context;

struct FunctionInfo {
  u32 max_threads_per_block = 1024;  // from .maxntid / .reqntid and registers
  u32 shared_static = 0, local_bytes = 0, registers = 0;
  u64 const_bytes = 0;
  u32 ptx_version = 90, binary_version = 90;
  bool reqntid = false;
  u32 block_limit[3] = {0, 0, 0};  // .maxntid or .reqntid
  u32 cluster[3] = {0, 0, 0};      // .reqnctapercluster, 0 = none
  u32 max_cluster_rank = 0;
  bool explicit_cluster = false;
};

class Function {
 public:
  Function(Module&, const ir::Function&);
  const std::string& name() const { return ir_.name; }
  const ir::Function& ir() const { return ir_; }
  Module& module() const { return module_; }
  const FunctionInfo& info() const { return info_; }
  bool launches_grids() const;  // it, or what it calls by name

  // Set by the program (cudaFuncSetAttribute); -1 = preferred nothing.
  std::atomic<int> max_dynamic_shared{0};
  std::atomic<int> carveout{-1};
  std::atomic<int> cache_config{0};
  std::atomic<bool> non_portable_cluster{false};
  std::atomic<u32> required_cluster[3] = {0, 0, 0};
  std::atomic<int> cluster_policy{0};

  Error set_max_dynamic_shared(int bytes, const DeviceSpec&);  // InvalidValue beyond the device's opt-in limit
  Error set_required_cluster(int axis, int blocks);            // NotPermitted if the kernel's code fixes it

  // The code for a launch shape; compiled on first use. InvalidPtx / NotSupported with `log` when it does not compile.
  Error code(const codegen::Variant&, std::shared_ptr<const codegen::Compiled>& out, std::string& log);
  bool ready_code(const codegen::Variant&, std::shared_ptr<const codegen::Compiled>& out);  // does not compile or wait

 private:
  Result<std::shared_ptr<const codegen::Compiled>> compile(const codegen::Variant&);
  struct Entry {
    codegen::Variant variant;
    std::shared_ptr<const codegen::Compiled> code;
  };
  Module& module_;
  const ir::Function& ir_;
  FunctionInfo info_;
  std::mutex m_;
  std::vector<Entry> variants_;
  bool told_compiling_ = false;
};

}  // namespace us::driver
