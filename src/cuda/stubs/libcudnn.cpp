// SPDX-License-Identifier: Apache-2.0
// What programs ask cuDNN before they use it: its version, which is that of the library the program brought, and a
// handle. XLA wants one for every device, whether or not it has work for it.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

#include "cuda/stubs/stubs.h"

namespace {

constexpr int kSuccess = 0, kBadParameter = 2000, kNullPointer = 2002, kNotSupported = US_STUB_CODE;

struct Handle {
  void* stream = nullptr;
};

std::size_t ask_stock(const char* function) {
  // Answered by src/loader.
  static void* const stock = dlopen("understudy-stock:" US_STUB_NAME, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
  auto* const f = stock ? reinterpret_cast<std::size_t (*)()>(dlsym(stock, function)) : nullptr;
  return f ? f() : 0;
}

}  // namespace

US_STUB_API std::size_t cudnnGetVersion() {
  static const std::size_t stock = ask_stock("cudnnGetVersion");
  return stock ? stock : US_STUB_VERSION;
}

US_STUB_API std::size_t cudnnGetMaxDeviceVersion() { return 900; }

US_STUB_API std::size_t cudnnGetCudartVersion() {
  static const std::size_t stock = ask_stock("cudnnGetCudartVersion");
  return stock ? stock : 13000;
}

US_STUB_API const char* cudnnGetErrorString(int status) {
  return status == kSuccess        ? "CUDNN_STATUS_SUCCESS"
         : status == kNotSupported ? "CUDNN_STATUS_NOT_SUPPORTED"
         : status == kBadParameter ? "CUDNN_STATUS_BAD_PARAM"
         : status == kNullPointer  ? "CUDNN_STATUS_BAD_PARAM_NULL_POINTER"
                                   : "CUDNN_UNKNOWN_STATUS";
}

US_STUB_API void cudnnGetLastErrorString(char* message, std::size_t bytes) {
  if (message && bytes) std::snprintf(message, bytes, "Understudy has the names of " US_STUB_NAME " only");
}

// 0, 1, 2: major, minor, patch of cudnnGetVersion().
US_STUB_API int cudnnGetProperty(int type, int* value) {
  if (!value) return kNullPointer;
  const int version = static_cast<int>(cudnnGetVersion());
  if (type < 0 || type > 2) return kBadParameter;
  *value = type == 0 ? version / 10000 : type == 1 ? version / 100 % 100 : version % 100;
  return kSuccess;
}

US_STUB_API int cudnnCreate(Handle** handle) {
  if (!handle) return kNullPointer;
  *handle = new Handle;
  return kSuccess;
}

US_STUB_API int cudnnDestroy(Handle* handle) {
  delete handle;
  return kSuccess;
}

US_STUB_API int cudnnSetStream(Handle* handle, void* stream) {
  if (!handle) return kNullPointer;
  handle->stream = stream;
  return kSuccess;
}

US_STUB_API int cudnnGetStream(Handle* handle, void** stream) {
  if (!handle || !stream) return kNullPointer;
  *stream = handle->stream;
  return kSuccess;
}
