// SPDX-License-Identifier: Apache-2.0
// Device Management: handles for other processes. The work: cuda/memory/ipc.cpp.
#include "cuda/memory/ipc.h"
#include "cuda/libcuda/driver_api.h"

using namespace us::cuda;

namespace {
us::u64* number(CUdeviceptr* p) { return reinterpret_cast<us::u64*>(p); }

// Of calls that need no context: processes import pools, and threads export their memory, before they have one.
us::driver::Error no_context(us::driver::Context*&) {
  return initialized() ? us::driver::Error::Success : us::driver::Error::NotInitialized;
}
us::driver::Error context_if_any(us::driver::Context*& out) {
  if (us::driver::failed(driver_context(out))) out = nullptr;
  return no_context(out);
}
}  // namespace

US_API CUresult cuIpcGetMemHandle(CUipcMemHandle* out, CUdeviceptr p) {
  return result(export_memory(driver_context, out, p));
}
US_API CUresult cuIpcOpenMemHandle(CUdeviceptr* out, CUipcMemHandle handle, unsigned flags) {
  return result(open_memory(driver_context, number(out), &handle, flags));
}
US_API CUresult cuIpcCloseMemHandle(CUdeviceptr p) { return result(close_memory(driver_context, p)); }
US_API CUresult cuIpcGetEventHandle(CUipcEventHandle* out, CUevent event) {
  return result(export_event(driver_context, out, event));
}
US_API CUresult cuIpcOpenEventHandle(CUevent* out, CUipcEventHandle handle) {
  return result(open_event(driver_context, reinterpret_cast<void**>(out), &handle));
}

US_API CUresult cuMemPoolExportToShareableHandle(void* out, CUmemoryPool pool, CUmemAllocationHandleType type,
                                                 unsigned long long flags) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  return result(export_pool(out, pool, static_cast<int>(type), flags));
}
US_API CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* out, void* handle, CUmemAllocationHandleType type,
                                                   unsigned long long flags) {
  return result(import_pool(no_context, reinterpret_cast<void**>(out), handle, static_cast<int>(type), flags));
}
US_API CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* out, CUdeviceptr p) {
  return result(export_pool_memory(no_context, out, p));
}
US_API CUresult cuMemPoolImportPointer(CUdeviceptr* out, CUmemoryPool pool, CUmemPoolPtrExportData* data) {
  return result(import_pool_memory(context_if_any, number(out), pool, data));
}
