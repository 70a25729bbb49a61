// SPDX-License-Identifier: Apache-2.0
// From what the program calls a kernel to the function in a context.
#pragma once
#include "cuda/state.h"

namespace us::cuda {

// A host stub or a cudaKernel_t. InvalidDeviceFunction if it is neither, or if no image of the program has the kernel.
driver::Error find_kernel(const void* symbol, driver::Kernel*& out);
driver::Error find_function(driver::Context&, const void* symbol, driver::Function*& out);

// The launch attributes of both APIs: their structs have one layout.
driver::Error read_attributes(const void* attributes, u32 count, driver::LaunchConfig&, std::vector<const void*>& events_after);

}  // namespace us::cuda
