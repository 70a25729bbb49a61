// SPDX-License-Identifier: Apache-2.0
// Handles for other processes: what both APIs do. Handles are 64 bytes of either API's type.
#pragma once
#include "cuda/state.h"

namespace us::cuda {

using FindContext = driver::Error (*)(driver::Context*&);  // that the call works in, asked when its arguments are good
inline driver::Error runtime_context_of_call(driver::Context*& out) {
  out = &runtime_context();
  return driver::Error::Success;
}

driver::Error export_memory(FindContext, void* handle, u64 address);
driver::Error open_memory(FindContext, u64* out, const void* handle, unsigned flags);
driver::Error close_memory(FindContext, u64 address);
driver::Error export_event(FindContext, void* handle, const void* event);
driver::Error open_event(FindContext, void** out, const void* handle);

// Pools: the descriptor of the pool first, then what describes one allocation. `type`: of CUmemAllocationHandleType.
driver::Error export_pool(void* out, const void* pool, int type, u64 flags);
driver::Error import_pool(FindContext, void** out, void* handle, int type, u64 flags);
driver::Error export_pool_memory(FindContext, void* handle, u64 address);
driver::Error import_pool_memory(FindContext, u64* out, const void* pool, const void* handle);

}  // namespace us::cuda
