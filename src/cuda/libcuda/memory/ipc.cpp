// SPDX-License-Identifier: Apache-2.0
// Device Management: handles for other processes.
#include <cstring>

#include "cuda/libcuda/driver_api.h"
#include "driver/memory/ipc.h"
#include "driver/memory/mem_pool.h"
#include "driver/order/shared_event.h"

using namespace us::cuda;
using us::driver::Event;
using us::driver::Ipc;
using us::driver::IpcHandle;
using us::driver::MemPool;

namespace {

template <class Handle>
IpcHandle read(const Handle& h) {
  static_assert(sizeof h == sizeof(IpcHandle));
  IpcHandle out;
  std::memcpy(out.bytes.data(), &h, sizeof h);
  return out;
}
template <class Handle>
void write(const IpcHandle& h, Handle* out) {
  std::memcpy(out, h.bytes.data(), sizeof *out);
}

}  // namespace

US_API CUresult cuIpcGetMemHandle(CUipcMemHandle* out, CUdeviceptr p) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    IpcHandle h;
    US_TRY(c.runtime().ipc().export_memory(p, h));
    write(h, out);
    return Error::Success;
  });
}

US_API CUresult cuIpcOpenMemHandle(CUdeviceptr* out, CUipcMemHandle handle, unsigned flags) {
  if (!out || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    us::u64 at = 0;
    US_TRY(c.runtime().ipc().open_memory(c, read(handle), at));
    *out = at;
    return Error::Success;
  });
}

US_API CUresult cuIpcCloseMemHandle(CUdeviceptr p) {
  return in_current([&](Context& c) { return c.runtime().ipc().close_memory(p); });
}

US_API CUresult cuIpcGetEventHandle(CUipcEventHandle* out, CUevent event) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context&) {
    std::shared_ptr<Event> e;
    IpcHandle h;
    US_TRY(find_event(event, e));
    if (!e->shared()) return Error::InvalidHandle;
    US_TRY(Ipc::export_event(*e->shared(), h));
    write(h, out);
    return Error::Success;
  });
}

US_API CUresult cuIpcOpenEventHandle(CUevent* out, CUipcEventHandle handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    std::shared_ptr<us::driver::SharedEvent> shared;
    US_TRY(Ipc::open_event(read(handle), shared));
    *out = handle_to<CUevent>(&c.create_event(false, false, std::move(shared)));
    return Error::Success;
  });
}

// Pools: the descriptor of the pool first, then what describes one allocation.
US_API CUresult cuMemPoolExportToShareableHandle(void* out, CUmemoryPool pool, CUmemAllocationHandleType type,
                                                 unsigned long long flags) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  MemPool* p = runtime().pools().find(pool);
  if (!out || !p || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags) return CUDA_ERROR_INVALID_VALUE;
  return result(Ipc::export_pool(*p, *static_cast<int*>(out)));
}

US_API CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* out, void* handle, CUmemAllocationHandleType type,
                                                   unsigned long long flags) {
  if (!out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    MemPool* p = nullptr;
    US_TRY(c.runtime().ipc().import_pool(static_cast<int>(reinterpret_cast<us::u64>(handle)), p));
    *out = handle_to<CUmemoryPool>(p);
    return Error::Success;
  });
}

US_API CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* out, CUdeviceptr p) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    IpcHandle h;
    US_TRY(c.runtime().ipc().export_pool_memory(p, h));
    write(h, out);
    return Error::Success;
  });
}

US_API CUresult cuMemPoolImportPointer(CUdeviceptr* out, CUmemoryPool pool, CUmemPoolPtrExportData* data) {
  if (!out || !data) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    MemPool* p = runtime().pools().find(pool);
    us::u64 at = 0;
    if (!p) return Error::InvalidValue;
    US_TRY(c.runtime().ipc().import_pool_memory(c, *p, read(*data), at));
    *out = at;
    return Error::Success;
  });
}
