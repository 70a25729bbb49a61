// SPDX-License-Identifier: Apache-2.0
// Error Handling.
#include <cuda_runtime_api.h>

#include "cuda/api.h"
#include "cuda/errors.h"
#include "cuda/last_error.h"

namespace {
constexpr const char* kUnrecognized = "unrecognized error code";
const us::cuda::ErrorRow* find(cudaError_t code) {
  const us::cuda::ErrorRow* row = us::cuda::find_error(code);
  return row && *row->runtime_name ? row : nullptr;
}
}  // namespace

US_API const char* cudaGetErrorName(cudaError_t error) {
  const auto* row = find(error);
  return row ? row->runtime_name : kUnrecognized;
}

US_API const char* cudaGetErrorString(cudaError_t error) {
  const auto* row = find(error);
  return row ? row->text : kUnrecognized;
}

US_API cudaError_t cudaGetLastError() { return static_cast<cudaError_t>(us::cuda::take_last_error()); }
US_API cudaError_t cudaPeekAtLastError() { return static_cast<cudaError_t>(us::cuda::peek_last_error()); }
