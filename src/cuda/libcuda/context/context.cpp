// SPDX-License-Identifier: Apache-2.0
// Primary Context Management, Context Management.
#include "cuda/libcuda/driver_api.h"

using namespace us::cuda;

namespace {

constexpr unsigned kFlags = 0xff;

// The context a handle names; null means the current one.
Error context_of(CUcontext handle, Context*& out) {
  if (!handle) return driver_context(out);
  if (!initialized()) return Error::NotInitialized;
  out = runtime().find_context(handle);
  return out ? Error::Success : Error::InvalidContext;
}

CUresult create(CUcontext* out, unsigned flags, CUdevice d) {
  if (!out || (flags & ~kFlags)) return CUDA_ERROR_INVALID_VALUE;
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  Context& c = runtime().create_context(static_cast<us::u32>(d));
  c.flags = flags;
  thread_state().stack.push_back({&c, c.id()});
  *out = handle_to<CUcontext>(&c);
  return CUDA_SUCCESS;
}

}  // namespace

US_API CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice d) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  *out = handle_to<CUcontext>(&device(d).retain_primary());
  return CUDA_SUCCESS;
}

US_API CUresult cuDevicePrimaryCtxRelease(CUdevice d);
US_API CUresult cuDevicePrimaryCtxRelease(CUdevice d) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  return result(device(d).release_primary());
}

US_API CUresult cuDevicePrimaryCtxReset(CUdevice d);
US_API CUresult cuDevicePrimaryCtxReset(CUdevice d) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  device(d).reset_primary();
  return CUDA_SUCCESS;
}

US_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice d, unsigned flags);
US_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice d, unsigned flags) {
  if (flags & ~kFlags) return CUDA_ERROR_INVALID_VALUE;
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  device(d).set_primary_flags(flags);
  return CUDA_SUCCESS;
}

US_API CUresult cuDevicePrimaryCtxGetState(CUdevice d, unsigned* flags, int* active) {
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  *active = device(d).primary_active();
  *flags = device(d).primary_flags();
  return CUDA_SUCCESS;
}

US_API CUresult cuCtxCreate_v2(CUcontext* out, unsigned flags, CUdevice d);
US_API CUresult cuCtxCreate_v2(CUcontext* out, unsigned flags, CUdevice d) { return create(out, flags, d); }
US_API CUresult cuCtxCreate_v3(CUcontext* out, CUexecAffinityParam* params, int count, unsigned flags, CUdevice d);
US_API CUresult cuCtxCreate_v3(CUcontext* out, CUexecAffinityParam* params, int count, unsigned flags, CUdevice d) {
  return params || count ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : create(out, flags, d);
}
US_API CUresult cuCtxCreate_v4(CUcontext* out, CUctxCreateParams* params, unsigned flags, CUdevice d) {
  if (params && (params->execAffinityParams || params->cigParams)) return CUDA_ERROR_NOT_SUPPORTED;
  return create(out, flags, d);
}

US_API CUresult cuCtxDestroy_v2(CUcontext handle) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  auto& stack = thread_state().stack;
  if (const Error e = runtime().destroy_context(handle); us::driver::failed(e)) return result(e);
  if (!stack.empty() && stack.back().context == static_cast<void*>(handle)) stack.pop_back();
  return CUDA_SUCCESS;
}

US_API CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  Context* c = nullptr;
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  if (const Error e = context_of(handle, c); us::driver::failed(e)) return result(e);
  thread_state().stack.push_back({c, c->id(), runtime().find_green(handle)});
  return CUDA_SUCCESS;
}

US_API CUresult cuCtxPopCurrent_v2(CUcontext* out) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  auto& stack = thread_state().stack;
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (out) *out = handle_to<CUcontext>(stack.back().handle());
  stack.pop_back();
  return CUDA_SUCCESS;
}

US_API CUresult cuCtxSetCurrent(CUcontext handle) {
  Context* c = nullptr;
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (handle)
    if (const Error e = context_of(handle, c); us::driver::failed(e)) return result(e);
  make_current(c, runtime().find_green(handle));
  return CUDA_SUCCESS;
}

US_API CUresult cuCtxGetCurrent(CUcontext* out) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  const auto& stack = thread_state().stack;
  *out = stack.empty() ? nullptr : handle_to<CUcontext>(stack.back().handle());
  return CUDA_SUCCESS;
}

US_API CUresult cuCtxGetDevice(CUdevice* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    *out = static_cast<CUdevice>(c.device().ordinal());
    return Error::Success;
  });
}
US_API CUresult cuCtxGetDevice_v2(CUdevice* out, CUcontext handle) {
  Context* c = nullptr;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (const Error e = context_of(handle, c); us::driver::failed(e)) return result(e);
  *out = static_cast<CUdevice>(c->device().ordinal());
  return CUDA_SUCCESS;
}

US_API CUresult cuCtxGetFlags(unsigned* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    *out = c.flags;
    return Error::Success;
  });
}

US_API CUresult cuCtxSetFlags(unsigned flags) {
  if (flags & ~kFlags) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    c.flags = flags;
    return Error::Success;
  });
}

US_API CUresult cuCtxGetId(CUcontext handle, unsigned long long* out) {
  Context* c = nullptr;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (const Error e = context_of(handle, c); us::driver::failed(e)) return result(e);
  *out = c->id();
  return CUDA_SUCCESS;
}

US_API CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* out) {
  Context* c = nullptr;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (const Error e = context_of(handle, c); us::driver::failed(e)) return result(e);
  *out = 3020;
  return CUDA_SUCCESS;
}

US_API CUresult cuCtxSynchronize() {
  return in_current([](Context& c) { return c.synchronize(); });
}
US_API CUresult cuCtxSynchronize_v2(CUcontext handle) {
  Context* c = nullptr;
  if (const Error e = context_of(handle, c); us::driver::failed(e)) return result(e);
  return result(c->synchronize());
}

US_API CUresult cuCtxGetLimit(size_t* out, CUlimit limit) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    us::u64 value = 0;
    US_TRY(c.get_limit(limit, value));
    *out = value;
    return Error::Success;
  });
}
US_API CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return in_current([&](Context& c) { return c.set_limit(limit, value); });
}

US_API CUresult cuCtxGetCacheConfig(CUfunc_cache* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    *out = static_cast<CUfunc_cache>(c.cache_config.load());
    return Error::Success;
  });
}
US_API CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  if (config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    c.cache_config = static_cast<int>(config);
    return Error::Success;
  });
}

US_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_current([&](Context& c) {
    if (least) *least = c.device().spec().stream_priority_least;
    if (greatest) *greatest = c.device().spec().stream_priority_greatest;
    return Error::Success;
  });
}
