// SPDX-License-Identifier: Apache-2.0
// A kernel in a context: what the compiler knows about it, what the program set on it, and its compiled variants.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codegen/jit.h"
#include "driver/code/resources.h"
#include "driver/device_spec.h"
#include "driver/error.h"

namespace us::driver {

class Module;
class Context;

struct FunctionInfo {
  u32 max_threads_per_block = 1024;  // from .maxntid / .reqntid
  u32 shared_static = 0;             // of our own layout
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
  // What the hardware would need. The first asks the toolkit's assembler where the program has no machine code, and
  // waits; the second tells what is known without that. Both stay where they are.
  const Resources& resources() const;
  const Resources& resources_at_hand() const;
  bool launches_grids() const;  // it, or what it calls by name

  // Set by the program (cudaFuncSetAttribute); -1 = preferred nothing.
  mutable std::atomic<int> max_dynamic_shared{0};
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
  void know(const Resources&) const;
  int default_dynamic_shared(const Resources&) const;
  Resources estimate_;
  mutable Resources exact_;
  mutable std::atomic<const Resources*> best_{nullptr};  // one of the two; nullptr: nobody has asked yet
  mutable std::once_flag asked_;
  std::mutex m_;  // guards the members below; held while a variant is compiled
  std::vector<Entry> variants_;
  bool told_compiling_ = false;
};

}  // namespace us::driver
