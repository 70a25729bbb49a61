// SPDX-License-Identifier: Apache-2.0
// A PTX module with memory for its variables, without a driver: enough to launch a kernel on a device::Gpu.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "device/gpu.h"
#include "ir/ir.h"

namespace ptx_test {

class LoadedModule {
 public:
  static us::Result<std::unique_ptr<LoadedModule>> load(const std::string& text, const std::string& name);
  const us::ir::Module& ir() const { return *module_; }
  // Launches and waits. `pointers`: the kernel's parameters.
  us::device::Fault run(us::device::Gpu&, std::shared_ptr<const us::device::KernelCode>, us::device::Dim3 grid,
                        us::device::Dim3 block, us::device::Dim3 cluster, unsigned dynamic_shared,
                        const std::vector<std::uint64_t>& pointers,
                        std::shared_ptr<us::probe::Listener> listener = nullptr);
  void initialise();  // variables get their initial values again

 private:
  std::uint64_t address_of(us::ir::SymId) const;
  std::unique_ptr<us::ir::Module> module_;
  std::vector<std::uint64_t> symbols_;
  std::vector<std::unique_ptr<std::uint8_t[]>> memory_;
  std::vector<std::uint8_t> const_bank_;
};

}  // namespace ptx_test
