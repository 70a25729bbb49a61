// SPDX-License-Identifier: Apache-2.0
// Memory pools by what the two APIs name them with: the kind of memory and a location.
#pragma once
#include <cuda.h>

#include "driver/memory/mem_pool.h"
#include "driver/runtime.h"

namespace us::cuda {

// Pinned or managed memory, where `location` says.
driver::Error pool_home(const CUmemLocation* location, int allocation_type, driver::MemPool::Home& out);
driver::Error create_pool(const CUmemPoolProps&, driver::MemPool*& out);
driver::Error get_access(const driver::MemPool&, const CUmemLocation&, CUmemAccess_flags& out);

}  // namespace us::cuda
