// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda_runtime_api.h>

#include "cuda/state.h"

namespace us::cuda {

driver::Error copy_of(const cudaMemcpy3DParms&, driver::Copy& out);
// A variable of the program and a part of it.
driver::Error symbol_part(driver::Context&, const void* symbol, size_t bytes, size_t offset, u64& at);

}  // namespace us::cuda
