// SPDX-License-Identifier: Apache-2.0
// The reference interpreter: a kernel as device::KernelCode that interprets the register form. Slow and simple; the
// compiled code is compared with it.
#pragma once
#include <memory>
#include <string>

#include "device/abi/kernel_code.h"
#include "ir/ir.h"
#include "probe/listener.h"

namespace us::codegen {

// The module must outlive the result. Its symbols have their offsets (after layout). It counts wherever the launch's
// listener wants that; of events it must know.
Result<std::shared_ptr<const device::KernelCode>> make_eval_kernel(const ir::Module&, const std::string& kernel,
                                                                   probe::Strategy = probe::Strategy::Nothing);

}  // namespace us::codegen
