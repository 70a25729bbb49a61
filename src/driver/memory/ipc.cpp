// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/ipc.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory/mem_pool.h"
#include "driver/memory/pools.h"
#include "driver/order/shared_event.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

constexpr u64 kMemoryMagic = 0x6d65645f79647473, kPoolMagic = 0x6c6f6f5f79647473, kPoolMemoryMagic = 0x6d6f6f5f79647473;

struct Fields {
  u64 magic = 0;
  i32 process = 0, descriptor = 0;
  u64 offset = 0, bytes = 0;  // of the allocation in the file
  u64 file_bytes = 0;
  u32 device = 0, unused = 0;
  u64 pool = 0;  // MemPool::Origin's
};
static_assert(sizeof(Fields) <= sizeof(IpcHandle));

IpcHandle pack(const Fields& f) {
  IpcHandle h;
  std::memcpy(h.bytes.data(), &f, sizeof f);
  return h;
}

Fields unpack(const IpcHandle& h) {
  Fields f;
  std::memcpy(&f, h.bytes.data(), sizeof f);
  return f;
}

// The other process's file, if it is what the handle says; -1 otherwise.
int open_file(const Fields& f) {
  const std::string path = "/proc/" + std::to_string(f.process) + "/fd/" + std::to_string(f.descriptor);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat s;
  if (fd >= 0 && fstat(fd, &s) == 0 && static_cast<u64>(s.st_size) == f.file_bytes) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

}  // namespace

Error Ipc::share(const memory::Allocation& a, u64 magic, IpcHandle& out) {
  US_TRY(static_cast<Context*>(a.owner)->settle());  // the pages move: nobody may be writing to them
  memory::SharedPages pages;
  const bool shared = a.pool ? static_cast<MemPool*>(a.pool)->share(a.address, pages)
                             : runtime_.device(a.device).heap().share(a.address, pages);
  if (!shared) return Error::OutOfMemory;
  out = pack({.magic = magic,
              .process = getpid(),
              .descriptor = pages.descriptor,
              .offset = a.address - pages.start,
              .bytes = a.bytes,
              .file_bytes = pages.bytes,
              .device = a.device,
              .pool = reinterpret_cast<u64>(a.pool)});
  return Error::Success;
}

Error Ipc::export_memory(u64 address, IpcHandle& out) {
  const auto a = runtime_.registry().find(address);
  return a && a->kind == memory::Kind::Device ? share(*a, kMemoryMagic, out) : Error::InvalidValue;
}

Error Ipc::export_pool_memory(u64 address, IpcHandle& out) {
  const auto a = runtime_.registry().find(address);
  const auto* pool = a ? static_cast<const MemPool*>(a->pool) : nullptr;
  if (!pool || pool->sharing() != MemPool::Sharing::Exportable) return Error::InvalidValue;
  return share(*a, kPoolMemoryMagic, out);
}

Error Ipc::open_memory(Context& c, const IpcHandle& handle, u64& out) {
  US_TRY(c.sticky());
  const Fields f = unpack(handle);
  if (f.magic != kMemoryMagic) return Error::InvalidValue;
  return f.process == getpid() ? Error::InvalidContext : open(c, handle, nullptr, out);
}

Error Ipc::import_pool_memory(Context& c, MemPool& pool, const IpcHandle& handle, u64& out) {
  US_TRY(c.sticky());
  const Fields f = unpack(handle);
  if (f.magic != kPoolMemoryMagic || pool.sharing() != MemPool::Sharing::Imported || f.process == getpid())
    return Error::InvalidValue;
  if (pool.origin() != MemPool::Origin{static_cast<u64>(f.process), f.pool}) return Error::InvalidValue;
  return open(c, handle, &pool, out);
}

Error Ipc::open(Context& c, const IpcHandle& handle, MemPool* pool, u64& out) {
  const Fields f = unpack(handle);
  std::lock_guard l(m_);
  for (auto& [address, o] : opened_) {
    if (o.handle.bytes != handle.bytes) continue;
    ++o.references;
    out = address;
    return Error::Success;
  }
  const int fd = open_file(f);
  if (fd < 0) return Error::InvalidHandle;
  const u64 start = runtime_.space().map_file(f.file_bytes, fd);
  ::close(fd);
  if (!start) return Error::OutOfMemory;
  out = start + f.offset;
  opened_[out] = {start, f.file_bytes, 1, handle};
  const u32 device = f.device < runtime_.device_count() ? f.device : c.device().ordinal();
  const bool host = pool && pool->home().kind == MemPool::Home::Kind::Host;
  runtime_.registry().add({.address = out,
                           .bytes = f.bytes,
                           .kind = host ? memory::Kind::ImportedHost : memory::Kind::Imported,
                           .device = device,
                           .owner = &c,
                           .pool = pool});
  return Error::Success;
}

Error Ipc::close_memory(u64 address) {
  const auto a = runtime_.registry().find(address);
  if (a && a->address == address && a->imported()) US_TRY(static_cast<Context*>(a->owner)->settle());
  return drop(address);
}

Error Ipc::drop(u64 address) {
  std::lock_guard l(m_);
  const auto it = opened_.find(address);
  if (it == opened_.end()) return Error::InvalidValue;
  if (--it->second.references) return Error::Success;
  runtime_.registry().remove(address);
  runtime_.space().give(it->second.map_at, it->second.map_bytes);
  opened_.erase(it);
  return Error::Success;
}

namespace {
struct PoolToken {
  u64 magic = kPoolMagic;
  u32 device = 0, host = 0;
  u64 place = 0;  // MemPool::Home's
  MemPool::Origin origin;
};
}  // namespace

Error Ipc::export_pool(const MemPool& p, int& descriptor) {
  if (p.sharing() != MemPool::Sharing::Exportable) return Error::InvalidValue;
  const bool host = p.home().kind == MemPool::Home::Kind::Host;
  const PoolToken token{.device = p.device(),
                        .host = host,
                        .place = p.home().place,
                        .origin = {static_cast<u64>(getpid()), reinterpret_cast<u64>(&p)}};
  descriptor = memfd_create("understudy-pool", MFD_CLOEXEC);
  if (descriptor < 0) return Error::OutOfMemory;
  if (pwrite(descriptor, &token, sizeof token, 0) == static_cast<ssize_t>(sizeof token)) return Error::Success;
  ::close(descriptor);
  return Error::OutOfMemory;
}

Error Ipc::import_pool(int descriptor, MemPool*& out) {
  PoolToken token;
  if (pread(descriptor, &token, sizeof token, 0) != static_cast<ssize_t>(sizeof token) || token.magic != kPoolMagic)
    return Error::InvalidValue;
  const u32 device = token.device < runtime_.device_count() ? token.device : 0;
  const auto kind = token.host ? MemPool::Home::Kind::Host : MemPool::Home::Kind::Device;
  out = &runtime_.pools().create({kind, device, token.place}, 0, MemPool::Sharing::Imported);
  out->set_origin(token.origin);
  return Error::Success;
}

Error Ipc::export_event(const SharedEvent& e, IpcHandle& out) {
  out = pack({.magic = SharedEvent::kMagic,
              .process = getpid(),
              .descriptor = e.descriptor(),
              .file_bytes = SharedEvent::kBytes});
  return Error::Success;
}

Error Ipc::open_event(const IpcHandle& handle, std::shared_ptr<SharedEvent>& out) {
  const Fields f = unpack(handle);
  if (f.magic != SharedEvent::kMagic) return Error::InvalidValue;
  if (f.process == getpid()) return Error::InvalidContext;
  const int fd = open_file(f);
  if (fd < 0) return Error::InvalidHandle;
  out = SharedEvent::open(fd);
  return out ? Error::Success : Error::InvalidHandle;
}

}  // namespace us::driver
