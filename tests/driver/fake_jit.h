// SPDX-License-Identifier: Apache-2.0
// A stand-in for the compiler: kernels are C++ functions, found by name. It is linked in place of codegen.
#pragma once
#include <functional>

#include "driver/code/modules.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/graph/graph.h"
#include "driver/operation/operation.h"
#include "driver/runtime.h"

namespace us::test {

// `thread(ctx, linear thread index in the CTA)` runs once per thread.
using ThreadBody = std::function<void(device::WarpCtx&, u32 thread)>;
void define_kernel(const std::string& name, ThreadBody);

// A module with one entry that takes parameters of the given sizes.
std::unique_ptr<ir::Module> module_with(const std::string& kernel, const std::vector<u32>& param_sizes);

// A runtime with one device and the kernel ready to launch.
struct Bench {
  explicit Bench(const std::string& kernel, const std::vector<u32>& param_sizes = {}, driver::Settings = {});
  driver::Error launch(const driver::LaunchConfig& c, const driver::LaunchArgs& args, driver::Stream& s) {
    return context.submit(driver::KernelOp{.function = function, .config = c, .arguments = args}, s);
  }
  driver::Runtime runtime;
  driver::Context& context;
  driver::Function* function = nullptr;
  std::string reported;
};

template <class T>
T param(const device::WarpCtx& w, u32 offset) {
  T v;
  std::memcpy(&v, w.grid->params + offset, sizeof v);
  return v;
}
inline u64 global_thread(const device::WarpCtx& w, u32 thread) {
  return u64{w.cta->ctaid.x} * w.grid->block.x + thread;
}

}  // namespace us::test
