// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/virtual_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cstring>

#include "driver/device.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

constexpr u64 kPage = 4096;
constexpr u64 kMagic = 0x59445554535245;  // of the page behind the memory in its file, for importers
constexpr int kNoAccess = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

struct Trailer {
  u64 magic = kMagic, bytes = 0;
  PhysicalDesc desc;
};

void* ptr(u64 a) { return reinterpret_cast<void*>(a); }

int make_file(u64 bytes, const PhysicalDesc& desc) {
  const int fd = memfd_create("understudy-memory", MFD_CLOEXEC);
  if (fd < 0) return -1;
  const Trailer t{.bytes = bytes, .desc = desc};
  if (ftruncate(fd, static_cast<off_t>(bytes + kPage)) == 0 &&
      pwrite(fd, &t, sizeof t, static_cast<off_t>(bytes)) == static_cast<ssize_t>(sizeof t))
    return fd;
  close(fd);
  return -1;
}

bool read_trailer(int fd, Trailer& t) {
  struct stat s;
  if (fstat(fd, &s) != 0 || s.st_size < static_cast<off_t>(2 * kPage)) return false;
  const off_t at = s.st_size - static_cast<off_t>(kPage);
  return pread(fd, &t, sizeof t, at) == static_cast<ssize_t>(sizeof t) && t.magic == kMagic &&
         t.bytes == static_cast<u64>(at);
}

int protection(u32 flags) { return (flags & 1 ? PROT_READ : 0) | (flags & 2 ? PROT_WRITE : 0); }

}  // namespace

VirtualMemory::~VirtualMemory() {
  for (const auto& [at, bytes] : ranges_) runtime_.space().give(at, bytes);
  for (const auto& [handle, p] : memory_) close(p.fd);
}

Error VirtualMemory::reserve(u64 bytes, u64 align, u64 hint, u64& out) {
  if (bytes == 0 || bytes % kPage || (align && !std::has_single_bit(align))) return Error::InvalidValue;
  align = std::max(align, kGranularity);
  if (bytes + align < bytes) return Error::OutOfMemory;
  const u64 start = runtime_.space().take(bytes, align, hint);
  if (!start) return Error::OutOfMemory;
  std::lock_guard l(m_);
  ranges_[start] = bytes;
  out = start;
  return Error::Success;
}

Error VirtualMemory::free_range(u64 at, u64 bytes) {
  std::lock_guard l(m_);
  const auto it = ranges_.find(at);
  if (it == ranges_.end() || it->second != bytes) return Error::InvalidValue;
  const auto mapped = mappings_.lower_bound(at);
  if (mapped != mappings_.end() && mapped->first < at + bytes) return Error::InvalidValue;
  runtime_.space().give(at, bytes);
  ranges_.erase(it);
  return Error::Success;
}

bool VirtualMemory::reserved(u64 address) const {
  std::lock_guard l(m_);
  auto it = ranges_.upper_bound(address);
  return it != ranges_.begin() && address - std::prev(it)->first < std::prev(it)->second;
}

Error VirtualMemory::keep(Physical p, u64& handle) {
  std::lock_guard l(m_);
  p.references = 1;
  handle = next_handle_++;
  memory_[handle] = p;
  return Error::Success;
}

Error VirtualMemory::create(u64 bytes, const PhysicalDesc& desc, u64& handle) {
  if (bytes == 0 || bytes % kGranularity) return Error::InvalidValue;
  if (desc.location == PhysicalDesc::OnDevice) {
    memory::Heap& heap = runtime_.device(static_cast<u32>(desc.id)).heap();
    if (bytes > heap.capacity() - heap.used()) return Error::OutOfMemory;
    heap.charge(bytes);
  }
  const int fd = make_file(bytes, desc);
  if (fd >= 0) return keep({.fd = fd, .bytes = bytes, .desc = desc}, handle);
  if (desc.location == PhysicalDesc::OnDevice) runtime_.device(static_cast<u32>(desc.id)).heap().uncharge(bytes);
  return Error::OutOfMemory;
}

void VirtualMemory::drop_if_unused(u64 handle) {
  const auto it = memory_.find(handle);
  if (it->second.references || it->second.mappings) return;
  const Physical& p = it->second;
  if (p.desc.location == PhysicalDesc::OnDevice) runtime_.device(static_cast<u32>(p.desc.id)).heap().uncharge(p.bytes);
  close(p.fd);
  memory_.erase(it);
}

Error VirtualMemory::release(u64 handle) {
  std::lock_guard l(m_);
  const auto it = memory_.find(handle);
  if (it == memory_.end() || it->second.references == 0) return Error::InvalidValue;
  --it->second.references;
  drop_if_unused(handle);
  return Error::Success;
}

Error VirtualMemory::retain_at(u64 address, u64& handle) {
  std::lock_guard l(m_);
  auto it = mappings_.upper_bound(address);
  if (it == mappings_.begin() || address - std::prev(it)->first >= std::prev(it)->second.bytes)
    return Error::InvalidValue;
  handle = std::prev(it)->second.handle;
  ++memory_.at(handle).references;
  return Error::Success;
}

Error VirtualMemory::describe(u64 handle, PhysicalDesc& out) const {
  std::lock_guard l(m_);
  const auto it = memory_.find(handle);
  if (it == memory_.end() || it->second.references == 0) return Error::InvalidValue;
  out = it->second.desc;
  return Error::Success;
}

void VirtualMemory::publish(u64 at, const Mapping& m) {
  const PhysicalDesc& d = memory_.at(m.handle).desc;
  u32 access = 0;
  for (const auto& [where, flags] : m.access) access |= flags;
  const u32 device = d.location == PhysicalDesc::OnDevice ? static_cast<u32>(d.id) : 0;
  runtime_.registry().remove(at);
  runtime_.registry().add({.address = at,
                           .bytes = m.bytes,
                           .kind = memory::Kind::Mapped,
                           .flags = access,
                           .device = device,
                           .physical = m.handle});
}

Error VirtualMemory::map(u64 at, u64 bytes, u64 offset, u64 handle) {
  if (bytes == 0 || at == 0) return Error::InvalidValue;
  std::lock_guard l(m_);
  const auto memory = memory_.find(handle);
  if (memory == memory_.end() || memory->second.references == 0) return Error::InvalidValue;
  if (offset || bytes != memory->second.bytes) return Error::NotSupported;  // whole allocations only
  if (at % kGranularity) return Error::InvalidValue;
  auto range = ranges_.upper_bound(at);
  if (range == ranges_.begin()) return Error::InvalidValue;
  const auto& [start, size] = *std::prev(range);
  if (at - start > size || bytes > size - (at - start)) return Error::InvalidValue;
  const auto next = mappings_.lower_bound(at + bytes);
  if (next != mappings_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > at)
    return Error::InvalidValue;
  if (mmap(ptr(at), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->second.fd, 0) == MAP_FAILED)
    return Error::OutOfMemory;
  any_mapping_ = true;
  ++memory->second.mappings;
  Mapping& m = mappings_[at];
  m = Mapping();
  m.bytes = bytes, m.handle = handle;
  publish(at, m);
  return Error::Success;
}

Error VirtualMemory::check_mapped(u64 at, u64 bytes) const {
  if (bytes > ~at) return Error::InvalidValue;
  const u64 end = at + bytes;
  while (at < end) {
    const auto it = mappings_.find(at);
    if (it == mappings_.end()) return Error::InvalidValue;
    at += it->second.bytes;
  }
  return at == end && bytes ? Error::Success : Error::InvalidValue;
}

// A range that was reserved and cuts no mapping; what of it is not mapped stays so.
Error VirtualMemory::unmap(u64 at, u64 bytes) {
  std::lock_guard l(m_);
  const auto range = ranges_.upper_bound(at);
  if (bytes == 0 || range == ranges_.begin()) return Error::InvalidValue;
  const auto& [start, size] = *std::prev(range);
  if (at - start > size || bytes > size - (at - start)) return Error::InvalidValue;
  const u64 end = at + bytes;
  const auto first = mappings_.lower_bound(at), last = mappings_.lower_bound(end);
  auto cut = [](auto it, u64 place) { return std::prev(it)->first + std::prev(it)->second.bytes > place; };
  if ((first != mappings_.begin() && cut(first, at)) || (last != first && cut(last, end))) return Error::InvalidValue;
  for (auto it = first; it != last; it = mappings_.erase(it)) {
    const auto& [where, m] = *it;
    mmap(ptr(where), m.bytes, PROT_NONE, kNoAccess | MAP_FIXED, -1, 0);
    runtime_.registry().remove(where);
    --memory_.at(m.handle).mappings;
    drop_if_unused(m.handle);
  }
  return Error::Success;
}

// There is one address space: memory that one location may touch, all may.
Error VirtualMemory::set_access(u64 at, u64 bytes, i32 location, i32 id, u32 flags) {
  std::lock_guard l(m_);
  US_TRY(check_mapped(at, bytes));
  for (const u64 end = at + bytes; at < end;) {
    Mapping& m = mappings_.at(at);
    m.access[{location, id}] = flags;
    u32 most = 0;
    for (const auto& [where, f] : m.access) most |= f;
    if (mprotect(ptr(at), m.bytes, protection(most)) != 0) return Error::OutOfMemory;
    publish(at, m);
    at += m.bytes;
  }
  return Error::Success;
}

Error VirtualMemory::get_access(u64 at, i32 location, i32 id, u32& flags) const {
  std::lock_guard l(m_);
  auto it = mappings_.upper_bound(at);
  if (it == mappings_.begin() || at - std::prev(it)->first >= std::prev(it)->second.bytes) return Error::InvalidValue;
  const auto& access = std::prev(it)->second.access;
  const auto found = access.find({location, id});
  flags = found == access.end() ? 0 : found->second;
  return Error::Success;
}

u32 VirtualMemory::rights(u64 at, i32 device, u64& end) const {
  std::lock_guard l(m_);
  auto it = mappings_.upper_bound(at);
  if (it == mappings_.begin()) return 0;
  --it;
  end = it->first + it->second.bytes;
  if (at >= end) return 0;
  const auto found = it->second.access.find({PhysicalDesc::OnDevice, device});
  return found == it->second.access.end() ? 0 : found->second;
}

bool VirtualMemory::compressible(u64 address) const {
  std::lock_guard l(m_);
  auto it = mappings_.upper_bound(address);
  if (it == mappings_.begin() || address - std::prev(it)->first >= std::prev(it)->second.bytes) return false;
  return memory_.at(std::prev(it)->second.handle).desc.compression != 0;
}

Error VirtualMemory::export_fd(u64 handle, int& fd) const {
  std::lock_guard l(m_);
  const auto it = memory_.find(handle);
  if (it == memory_.end() || it->second.references == 0) return Error::InvalidValue;
  if (!(it->second.desc.handle_types & PhysicalDesc::kPosixFd)) return Error::InvalidValue;
  fd = fcntl(it->second.fd, F_DUPFD_CLOEXEC, 3);
  return fd < 0 ? Error::OutOfMemory : Error::Success;
}

Error VirtualMemory::import_fd(int fd, u64& handle) {
  Trailer t;
  if (fd < 0) return Error::Unknown;
  if (!read_trailer(fd, t)) return Error::InvalidValue;
  if (t.desc.location == PhysicalDesc::OnDevice) {
    if (static_cast<u32>(t.desc.id) >= runtime_.device_count()) return Error::InvalidDevice;
    runtime_.device(static_cast<u32>(t.desc.id)).heap().charge(t.bytes);
  }
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (own < 0) return Error::OutOfMemory;
  return keep({.fd = own, .bytes = t.bytes, .desc = t.desc}, handle);
}

}  // namespace us::driver
