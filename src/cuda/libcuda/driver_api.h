// SPDX-License-Identifier: Apache-2.0
// What every driver API function does around its own line: find the context and the stream, name the error.
#pragma once
#include <cuda.h>

#include "cuda/api.h"
#include "cuda/code/functions.h"
#include "cuda/devices.h"
#include "cuda/libcuda/result.h"
#include "cuda/state.h"
#include "driver/code/function.h"
#include "driver/operation/operation.h"

namespace us::cuda {

using driver::CallbackOp;
using driver::Context;
using driver::CopyOp;
using driver::Error;
using driver::FillOp;
using driver::Function;
using driver::HostOp;
using driver::KernelOp;
using driver::MemOps;
using driver::Stream;

template <class T>
T handle_to(const void* object) {
  return reinterpret_cast<T>(const_cast<void*>(object));
}
template <class T>
T* object_of(void* handle) {
  return static_cast<T*>(handle);
}

// f(Context&) → Error, in the current context
template <class F>
CUresult in_current(F&& f) {
  Context* c = nullptr;
  if (const Error e = driver_context(c); driver::failed(e)) return result(e);
  return result(f(*c));
}

// f(Context& of the stream, Stream&) → Error
template <class F>
CUresult in_stream(CUstream handle, F&& f) {
  StreamRef s;
  if (const Error e = driver_stream(handle, s); driver::failed(e)) return result(e);
  return result(f(s.context(), *s));
}

// f(Context&, Function&) → Error; a CUfunction or a CUkernel, in the current context
template <class F>
CUresult with_current_function(CUfunction handle, F&& f) {
  return in_current([&](Context& c) {
    Function* function = nullptr;
    US_TRY(c.sticky());
    US_TRY(find_loaded(c, handle, function));
    return f(c, *function);
  });
}

// The same for what needs no current context: a function that is not the current context's is looked for in all others.
template <class F>
CUresult with_function(CUfunction handle, F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  Context* c = nullptr;
  Function* function = nullptr;
  driver_context(c);
  if (!c || !c->modules().find_function(handle))
    if (Context* const other = runtime().context_of_function(handle)) c = other;
  if (!c) return CUDA_ERROR_INVALID_HANDLE;
  if (const Error e = c->sticky(); driver::failed(e)) return result(e);
  if (const Error e = find_loaded(*c, handle, function); driver::failed(e)) return result(e);
  return result(f(*c, *function));
}

inline Error check_device(CUdevice d) {
  if (!initialized()) return Error::NotInitialized;
  return is_device(d) ? Error::Success : Error::InvalidDevice;
}
inline driver::Device& device(CUdevice d) { return runtime().device(static_cast<u32>(d)); }

}  // namespace us::cuda

#define US_PTSZ(name, params, args)    \
  US_API CUresult name##_ptsz params;  \
  US_API CUresult name##_ptsz params { \
    us::cuda::PerThreadDefault scope;  \
    return name args;                  \
  }
#define US_PTDS(name, params, args)    \
  US_API CUresult name##_ptds params;  \
  US_API CUresult name##_ptds params { \
    us::cuda::PerThreadDefault scope;  \
    return name args;                  \
  }
