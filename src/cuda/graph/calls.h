// SPDX-License-Identifier: Apache-2.0
// Entry points that both APIs have with one signature: US_BOTH(GraphCreate, (parameters), (arguments)) defines cuGraphCreate
// and cudaGraphCreate as calls of the function GraphCreate, which returns an Error and runs under the lock of all graphs.
#pragma once
#include <cuda_runtime_api.h>

#include "cuda/api.h"
#include "cuda/devices.h"
#include "cuda/graph/graphs.h"
#include "cuda/last_error.h"
#include "cuda/libcuda/result.h"

namespace us::cuda {

template <class F>
CUresult as_driver(F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  GraphLock lock;
  return result(f());
}
template <class F>
cudaError_t as_runtime(F&& f) {
  runtime_context();
  GraphLock lock;
  return static_cast<cudaError_t>(record_error(static_cast<int>(f())));
}

}  // namespace us::cuda

#define US_BOTH(name, params, args)                         \
  US_API CUresult cu##name params {                         \
    return us::cuda::as_driver([&] { return name args; });  \
  }                                                         \
  US_API cudaError_t cuda##name params {                    \
    return us::cuda::as_runtime([&] { return name args; }); \
  }
