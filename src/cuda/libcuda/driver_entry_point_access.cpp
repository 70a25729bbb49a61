// SPDX-License-Identifier: Apache-2.0
// Driver Entry Point Access.
#include <cuda.h>

#include "cuda/api.h"
#include "cuda/devices.h"
#include "cuda/lookup.h"

using us::cuda::LookupStatus;

US_API CUresult cuGetProcAddress_v2(const char* symbol, void** out, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult* status) {
  const bool both = flags == (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  if (!symbol || !out || version > us::cuda::kVersion || flags > 3 || both) return CUDA_ERROR_INVALID_VALUE;
  const auto found = us::cuda::look_up(symbol, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  *out = reinterpret_cast<void*>(found.fn);
  if (status) *status = static_cast<CUdriverProcAddressQueryResult>(found.status);
  return CUDA_SUCCESS;
}

// Until CUDA 11.8: no status, a missing symbol is an error.
#undef cuGetProcAddress
US_API CUresult cuGetProcAddress(const char* symbol, void** out, int version, cuuint64_t flags);
US_API CUresult cuGetProcAddress(const char* symbol, void** out, int version, cuuint64_t flags) {
  if (const CUresult e = cuGetProcAddress_v2(symbol, out, version, flags, nullptr)) return e;
  return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
