// SPDX-License-Identifier: Apache-2.0
#include "cuda/memory/ipc.h"

#include <cuda.h>

#include <cstring>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory/ipc.h"
#include "driver/memory/mem_pool.h"
#include "driver/order/shared_event.h"

namespace us::cuda {

using namespace driver;

namespace {

IpcHandle read(const void* given) {
  IpcHandle h;
  std::memcpy(h.bytes.data(), given, sizeof h);
  return h;
}
void write(const IpcHandle& h, void* out) { std::memcpy(out, h.bytes.data(), sizeof h); }

bool is_descriptor(int type, u64 flags) { return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && !flags; }

}  // namespace

Error export_memory(FindContext find, void* handle, u64 address) {
  Context* c = nullptr;
  IpcHandle h;
  if (!handle) return Error::InvalidValue;
  US_TRY(find(c));
  US_TRY(runtime().ipc().export_memory(address, h));
  write(h, handle);
  return Error::Success;
}

Error open_memory(FindContext find, u64* out, const void* handle, unsigned flags) {
  Context* c = nullptr;
  if (!out || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return Error::InvalidValue;
  US_TRY(find(c));
  u64 at = 0;
  US_TRY(runtime().ipc().open_memory(*c, read(handle), at));
  *out = at;
  return Error::Success;
}

Error close_memory(FindContext find, u64 address) {
  Context* c = nullptr;
  US_TRY(find(c));
  return runtime().ipc().close_memory(address);
}

Error export_event(FindContext find, void* handle, const void* event) {
  Context* c = nullptr;
  std::shared_ptr<Event> e;
  IpcHandle h;
  if (!handle) return Error::InvalidValue;
  US_TRY(find(c));
  US_TRY(find_event(event, e));
  if (!e->shared()) return Error::InvalidHandle;
  US_TRY(Ipc::export_event(*e->shared(), h));
  write(h, handle);
  return Error::Success;
}

Error open_event(FindContext find, void** out, const void* handle) {
  Context* c = nullptr;
  std::shared_ptr<SharedEvent> shared;
  if (!out) return Error::InvalidValue;
  US_TRY(find(c));
  US_TRY(Ipc::open_event(read(handle), shared));
  *out = &c->create_event(false, false, std::move(shared));
  return Error::Success;
}

Error export_pool(void* out, const void* pool, int type, u64 flags) {
  const MemPool* p = runtime().pools().find(pool);
  if (!out || !p || !is_descriptor(type, flags)) return Error::InvalidValue;
  return Ipc::export_pool(*p, *static_cast<int*>(out));
}

Error import_pool(FindContext find, void** out, void* handle, int type, u64 flags) {
  Context* c = nullptr;
  MemPool* p = nullptr;
  if (!out || !is_descriptor(type, flags)) return Error::InvalidValue;
  US_TRY(find(c));
  US_TRY(runtime().ipc().import_pool(static_cast<int>(reinterpret_cast<u64>(handle)), p));
  *out = p;
  return Error::Success;
}

Error export_pool_memory(FindContext find, void* handle, u64 address) {
  Context* c = nullptr;
  IpcHandle h;
  if (!handle) return Error::InvalidValue;
  US_TRY(find(c));
  US_TRY(runtime().ipc().export_pool_memory(address, h));
  write(h, handle);
  return Error::Success;
}

Error import_pool_memory(FindContext find, u64* out, const void* pool, const void* handle) {
  Context* c = nullptr;
  if (!out || !handle) return Error::InvalidValue;
  US_TRY(find(c));
  MemPool* p = runtime().pools().find(pool);
  u64 at = 0;
  if (!p) return Error::InvalidValue;
  if (!c) c = &runtime().device(p->device()).primary();
  US_TRY(runtime().ipc().import_pool_memory(*c, *p, read(handle), at));
  *out = at;
  return Error::Success;
}

}  // namespace us::cuda
