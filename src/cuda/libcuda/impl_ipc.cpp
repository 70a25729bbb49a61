// SPDX-License-Identifier: Apache-2.0
// Device Management: handles for other processes.
#include <cstring>

#include "cuda/libcuda/du.h"

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
