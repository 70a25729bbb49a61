// SPDX-License-Identifier: Apache-2.0
// Device Management: handles for other processes.
#include <cstring>

#include "cuda/libcudart/runtime_api.h"
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

US_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* out, void* p) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    IpcHandle h;
    US_TRY(c.runtime().ipc().export_memory(address(p), h));
    write(h, out);
    return Error::Success;
  });
}

US_API cudaError_t cudaIpcOpenMemHandle(void** out, cudaIpcMemHandle_t handle, unsigned flags) {
  if (!out || flags != cudaIpcMemLazyEnablePeerAccess) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    us::u64 at = 0;
    US_TRY(c.runtime().ipc().open_memory(c, read(handle), at));
    *out = pointer(at);
    return Error::Success;
  });
}

US_API cudaError_t cudaIpcCloseMemHandle(void* p) {
  return in_context([&](Context& c) { return c.runtime().ipc().close_memory(address(p)); });
}

US_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* out, cudaEvent_t event) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context&) {
    std::shared_ptr<Event> e;
    IpcHandle h;
    US_TRY(find_event(event, e));
    if (!e->shared()) return Error::InvalidHandle;
    US_TRY(Ipc::export_event(*e->shared(), h));
    write(h, out);
    return Error::Success;
  });
}

US_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* out, cudaIpcEventHandle_t handle) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    std::shared_ptr<us::driver::SharedEvent> shared;
    US_TRY(Ipc::open_event(read(handle), shared));
    *out = reinterpret_cast<cudaEvent_t>(&c.create_event(false, false, std::move(shared)));
    return Error::Success;
  });
}

// Pools: the descriptor of the pool first, then what describes one allocation.
US_API cudaError_t cudaMemPoolExportToShareableHandle(void* out, cudaMemPool_t pool, cudaMemAllocationHandleType type,
                                                      unsigned flags) {
  MemPool* p = runtime().pools().find(pool);
  if (!out || !p || type != cudaMemHandleTypePosixFileDescriptor || flags) return done(Error::InvalidValue);
  return done(Ipc::export_pool(*p, *static_cast<int*>(out)));
}

US_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* out, void* handle,
                                                        cudaMemAllocationHandleType type, unsigned flags) {
  if (!out || type != cudaMemHandleTypePosixFileDescriptor || flags) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    MemPool* p = nullptr;
    US_TRY(c.runtime().ipc().import_pool(static_cast<int>(address(handle)), p));
    *out = reinterpret_cast<cudaMemPool_t>(p);
    return Error::Success;
  });
}

US_API cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* out, void* p) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    IpcHandle h;
    US_TRY(c.runtime().ipc().export_pool_memory(address(p), h));
    write(h, out);
    return Error::Success;
  });
}

US_API cudaError_t cudaMemPoolImportPointer(void** out, cudaMemPool_t pool, cudaMemPoolPtrExportData* data) {
  MemPool* p = runtime().pools().find(pool);
  if (!out || !p || !data) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    us::u64 at = 0;
    US_TRY(c.runtime().ipc().import_pool_memory(c, *p, read(*data), at));
    *out = pointer(at);
    return Error::Success;
  });
}
