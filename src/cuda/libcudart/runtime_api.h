// SPDX-License-Identifier: Apache-2.0
// What every runtime API function does around its own line: find the context and the stream, remember the error.
#pragma once
#include <cuda_runtime_api.h>

#include "cuda/api.h"
#include "cuda/last_error.h"
#include "cuda/state.h"
#include "driver/operation/operation.h"

namespace us::cuda {

using driver::CallbackOp;
using driver::Context;
using driver::CopyOp;
using driver::Error;
using driver::FillOp;
using driver::HostOp;
using driver::KernelOp;
using driver::MemOps;
using driver::Stream;

inline cudaError_t done(Error e) { return static_cast<cudaError_t>(record_error(static_cast<int>(e))); }
inline u64 address(const void* p) { return reinterpret_cast<u64>(p); }
inline void* pointer(u64 a) { return reinterpret_cast<void*>(a); }

// f(Context&) → Error
template <class F>
cudaError_t in_context(F&& f) {
  return done(f(runtime_context()));
}

// f(Context& of the stream, Stream&) → Error
template <class F>
cudaError_t in_stream(cudaStream_t handle, F&& f) {
  StreamRef s;
  if (const Error e = find_stream(runtime_context(), handle, s); driver::failed(e)) return done(e);
  return done(f(s.context(), *s));
}

}  // namespace us::cuda

// The variant of an entry point for programs whose default stream is the per-thread one.
#define US_PTSZ(name, params, args)       \
  US_API cudaError_t name##_ptsz params { \
    us::cuda::PerThreadDefault scope;     \
    return name args;                     \
  }
#define US_PTDS(name, params, args)       \
  US_API cudaError_t name##_ptds params { \
    us::cuda::PerThreadDefault scope;     \
    return name args;                     \
  }
