// SPDX-License-Identifier: Apache-2.0
// Driver Entry Point Access, and private tables, of which there are none.
#include <cuda_runtime_api.h>

#include "cuda/api.h"
#include "cuda/devices.h"
#include "cuda/foreign.h"
#include "cuda/last_error.h"
#include "cuda/lookup.h"

namespace {

using Status = cudaDriverEntryPointQueryResult;

cudaError_t answer(const char* symbol, void** out, unsigned version, unsigned long long flags, Status* status,
                   bool per_thread) {
  const bool known_flags = flags <= cudaEnablePerThreadDefaultStream;
  if (!symbol || !out || version > static_cast<unsigned>(us::cuda::kVersion) || !known_flags)
    return static_cast<cudaError_t>(us::cuda::record_error(cudaErrorInvalidValue));
  us::cuda::initialize_runtime();
  const bool per_thread_wanted =
      flags == cudaEnablePerThreadDefaultStream || (flags == cudaEnableDefault && per_thread);
  const auto found = us::cuda::look_up(symbol, static_cast<int>(version), per_thread_wanted);
  *out = reinterpret_cast<void*>(found.fn);
  if (status) *status = static_cast<Status>(found.status);
  return cudaSuccess;
}

}  // namespace

US_API cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** out, unsigned long long flags, Status* status) {
  return answer(symbol, out, us::cuda::kVersion, flags, status, false);
}

US_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** out, unsigned long long flags,
                                                Status* status) {
  return answer(symbol, out, us::cuda::kVersion, flags, status, true);
}

US_API cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** out, unsigned version,
                                                    unsigned long long flags, Status* status) {
  return answer(symbol, out, version, flags, status, false);
}

US_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** out, unsigned version,
                                                         unsigned long long flags, Status* status) {
  return answer(symbol, out, version, flags, status, true);
}

US_API cudaError_t cudaGetExportTable(const void**, const cudaUUID_t*) {
  us::cuda::note_private_table(__builtin_return_address(0));
  return static_cast<cudaError_t>(us::cuda::record_error(cudaErrorNotSupported));
}
