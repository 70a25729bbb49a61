// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda.h>

#include "driver/memory/copy.h"

namespace us::cuda {

driver::Error copy_of(const CUDA_MEMCPY3D&, driver::Copy& out, driver::CopyKind&);

}  // namespace us::cuda
