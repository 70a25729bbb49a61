// SPDX-License-Identifier: Apache-2.0
// Error Handling.
#include <cuda.h>

#include "cuda/api.h"
#include "cuda/errors.h"

namespace {
CUresult answer(CUresult error, const char** out, const char* us::cuda::ErrorRow::*field) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  const us::cuda::ErrorRow* row = us::cuda::find_error(error);
  const bool known = row && *row->driver_name;
  *out = known ? row->*field : nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
}  // namespace

US_API CUresult cuGetErrorName(CUresult error, const char** out) {
  return answer(error, out, &us::cuda::ErrorRow::driver_name);
}
US_API CUresult cuGetErrorString(CUresult error, const char** out) {
  return answer(error, out, &us::cuda::ErrorRow::text);
}
