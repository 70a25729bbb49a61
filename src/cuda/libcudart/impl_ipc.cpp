// SPDX-License-Identifier: Apache-2.0
// Device Management: handles for other processes.
#include <cstring>

#include "cuda/libcudart/rt.h"

using namespace us::cuda;
using us::driver::Event;
using us::driver::Ipc;
using us::driver::IpcHandle;

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
