// SPDX-License-Identifier: Apache-2.0
// Entry points that both APIs have: one body, two names. A body returns an Error and runs under the lock of all graphs.
//
//   US_BOTH(GraphCreate, (parameters), (arguments))  cuGraphCreate and cudaGraphCreate call GraphCreate(arguments)
//   US_BOTH_AS(GraphGetEdges, GraphGetEdges_v2, PARAMETERS, (types), (types), (arguments))
//       the driver's name differs, and so do types of one layout: PARAMETERS is a macro of them, the runtime's first
//   US_BOTH_STREAM(...)  the same for work in `stream`, with _ptsz variants; the body's first argument is the Stream
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

template <class F>
CUresult as_driver_in(CUstream stream, F&& f) {
  StreamRef s;
  if (const driver::Error e = driver_stream(stream, s); driver::failed(e)) return result(e);
  return result(f(*s));
}
template <class F>
cudaError_t as_runtime_in(cudaStream_t stream, F&& f) {
  StreamRef s;
  driver::Error e = find_stream(runtime_context(), stream, s);
  if (!driver::failed(e)) e = f(*s);
  return static_cast<cudaError_t>(record_error(static_cast<int>(e)));
}

}  // namespace us::cuda

#define US_BOTH(name, params, args)                         \
  US_API CUresult cu##name params {                         \
    return us::cuda::as_driver([&] { return name args; });  \
  }                                                         \
  US_API cudaError_t cuda##name params {                    \
    return us::cuda::as_runtime([&] { return name args; }); \
  }

#define US_BOTH_AS(name, driver_name, params, runtime_types, driver_types, args) \
  US_API CUresult cu##driver_name params driver_types {                          \
    return us::cuda::as_driver([&] { return name args; });                       \
  }                                                                              \
  US_API cudaError_t cuda##name params runtime_types {                           \
    return us::cuda::as_runtime([&] { return name args; });                      \
  }

#define US_BOTH_STREAM(name, driver_name, params, runtime_types, driver_types, args)          \
  US_API CUresult cu##driver_name params driver_types {                                       \
    return us::cuda::as_driver_in(stream, [&](us::driver::Stream& s) { return name args; });  \
  }                                                                                           \
  US_API CUresult cu##driver_name##_ptsz params driver_types;                                 \
  US_API CUresult cu##driver_name##_ptsz params driver_types {                                \
    us::cuda::PerThreadDefault scope;                                                         \
    return us::cuda::as_driver_in(stream, [&](us::driver::Stream& s) { return name args; });  \
  }                                                                                           \
  US_API cudaError_t cuda##name params runtime_types {                                        \
    return us::cuda::as_runtime_in(stream, [&](us::driver::Stream& s) { return name args; }); \
  }                                                                                           \
  US_API cudaError_t cuda##name##_ptsz params runtime_types;                                  \
  US_API cudaError_t cuda##name##_ptsz params runtime_types {                                 \
    us::cuda::PerThreadDefault scope;                                                         \
    return us::cuda::as_runtime_in(stream, [&](us::driver::Stream& s) { return name args; }); \
  }
