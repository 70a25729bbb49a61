// SPDX-License-Identifier: Apache-2.0
// Device Management: handles for other processes. The work: cuda/memory/ipc.cpp.
#include "cuda/memory/ipc.h"
#include "cuda/libcudart/runtime_api.h"

using namespace us::cuda;

namespace {
constexpr FindContext kContext = runtime_context_of_call;
us::u64* number(void** p) { return reinterpret_cast<us::u64*>(p); }
}  // namespace

US_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* out, void* p) {
  return done(export_memory(kContext, out, address(p)));
}
US_API cudaError_t cudaIpcOpenMemHandle(void** out, cudaIpcMemHandle_t handle, unsigned flags) {
  return done(open_memory(kContext, number(out), &handle, flags));
}
US_API cudaError_t cudaIpcCloseMemHandle(void* p) { return done(close_memory(kContext, address(p))); }
US_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* out, cudaEvent_t event) {
  return done(export_event(kContext, out, event));
}
US_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* out, cudaIpcEventHandle_t handle) {
  return done(open_event(kContext, reinterpret_cast<void**>(out), &handle));
}

US_API cudaError_t cudaMemPoolExportToShareableHandle(void* out, cudaMemPool_t pool, cudaMemAllocationHandleType type,
                                                      unsigned flags) {
  return done(export_pool(out, pool, static_cast<int>(type), flags));
}
US_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* out, void* handle,
                                                        cudaMemAllocationHandleType type, unsigned flags) {
  return done(import_pool(kContext, reinterpret_cast<void**>(out), handle, static_cast<int>(type), flags));
}
US_API cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* out, void* p) {
  return done(export_pool_memory(kContext, out, address(p)));
}
US_API cudaError_t cudaMemPoolImportPointer(void** out, cudaMemPool_t pool, cudaMemPoolPtrExportData* data) {
  return done(import_pool_memory(kContext, number(out), pool, data));
}
