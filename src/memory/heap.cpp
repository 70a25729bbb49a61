// SPDX-License-Identifier: Apache-2.0
#include "memory/heap.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace us::memory {
namespace {

constexpr u64 kPage = 4096;
constexpr u64 kChunk = 2u << 20;  // size of a pool, alignment of big allocations
constexpr u64 kSlot = 64u << 10;  // alignment of middle-sized ones
constexpr u64 kSmallAlign = 512;
constexpr u64 kReserve = u64{1} << 40;  // address space per device
constexpr u64 kPagedFrom = 64u << 10;   // from this size on an allocation has its own pages
constexpr u64 kManyMappings = 8192;     // beyond, small page-sized allocations share pools (the kernel limits mappings)
constexpr u64 kTooManyMappings = 28000;  // beyond, allocations stand without a gap so that mappings merge
constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// How much of an allocation can be accessed: as on the device, a large one up to the end of its last chunk (an H200
// read the last byte of it for 2 MB + 4, 5 MB and 33 MB, and faulted at the next).
u64 accessible(u64 bytes) { return round_up(bytes, bytes >= kChunk ? kChunk : kPage); }
void* ptr(u64 a) { return reinterpret_cast<void*>(a); }

}  // namespace

Heap::Heap(u64 capacity, AddressSpace& space, bool apart) : space_(space), capacity_(capacity), apart_(apart) {
  for (u64 bytes = std::max(kReserve, round_up(capacity, kChunk) * 2); bytes >= (u64{1} << 30) && !base_; bytes /= 2) {
    base_ = space.take(bytes, kChunk);
    reserved_ = bytes;
  }
  if (!base_) reserved_ = 0;
  if (base_) extents_.give(base_, reserved_);
}

Heap::~Heap() {
  if (base_) space_.give(base_, reserved_);
  for (const auto& [start, pages] : shared_) close(pages.descriptor);
}

u64 Heap::used() const {
  std::lock_guard l(m_);
  return used_;
}
void Heap::charge(u64 bytes) {
  std::lock_guard l(m_);
  used_ += bytes;
}
void Heap::uncharge(u64 bytes) {
  std::lock_guard l(m_);
  used_ -= bytes;
}

u64 Heap::allocate(u64 bytes, u64 align) {
  std::lock_guard l(m_);
  if (bytes == 0 || bytes > capacity_) return 0;
  const bool pages = bytes >= kPagedFrom || (bytes % kPage == 0 && mappings_ < kManyMappings);
  return pages ? allocate_pages(bytes, align) : allocate_small(bytes, align);
}

u64 Heap::allocate_pages(u64 bytes, u64 align) {
  const u64 cost = round_up(bytes, bytes >= kChunk / 2 ? kChunk : kPage);
  if (used_ + cost > capacity_) return 0;
  const u64 pages = accessible(bytes);
  const u64 gap = align == kChunk || mappings_ < kTooManyMappings ? kPage : 0;  // pools never touch
  align = std::max(align, bytes >= kChunk ? kChunk : gap ? kSlot : kPage);
  const u64 at = extents_.take_next(pages + gap, align);
  if (!at) return 0;
  if (mprotect(ptr(at), pages, PROT_READ | PROT_WRITE) != 0) {
    extents_.give(at, pages + gap);
    return 0;
  }
  if (bytes >= 2 * kChunk) madvise(ptr(at), pages, MADV_HUGEPAGE);
  blocks_[at] = {bytes, pages + gap, cost, false};
  used_ += cost;
  ++mappings_;
  return at;
}

u64 Heap::allocate_small(u64 bytes, u64 align) {
  const u64 span = round_up(bytes, kSmallAlign) + (apart_ ? kSmallAlign : 0);
  align = std::max(align, kSmallAlign);
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (const u64 at = holes_.take(span, align)) {
      blocks_[at] = {bytes, span, 0, true};
      return at;
    }
    const u64 chunk = allocate_pages(kChunk, kChunk);
    if (!chunk) return 0;
    pools_.insert(blocks_.extract(chunk));
    holes_.give(chunk, kChunk);
  }
  return 0;
}

namespace {

// A file with the contents of the pages; zero pages stay holes in it.
int copy_to_file(u64 at, u64 bytes) {
  static const u8 zeros[kPage] = {};
  const int fd = memfd_create("understudy-shared", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return fd < 0 ? fd : (close(fd), -1);
  for (u64 done = 0; done < bytes; done += kPage) {
    if (std::memcmp(ptr(at + done), zeros, kPage) == 0) continue;
    if (pwrite(fd, ptr(at + done), kPage, static_cast<off_t>(done)) != static_cast<ssize_t>(kPage))
      return close(fd), -1;
  }
  return fd;
}

}  // namespace

bool Heap::share(u64 address, SharedPages& out) {
  std::lock_guard l(m_);
  const auto it = blocks_.find(address);
  if (it == blocks_.end()) return false;
  const bool pooled = it->second.pooled;
  const u64 start = pooled ? address / kChunk * kChunk : address;
  const u64 bytes = pooled ? kChunk : accessible(it->second.bytes);
  auto known = shared_.find(start);
  if (known == shared_.end()) {
    const int fd = copy_to_file(start, bytes);
    if (fd < 0) return false;
    if (mmap(ptr(start), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
      return close(fd), false;
    known = shared_.emplace(start, SharedPages{fd, start, bytes}).first;
  }
  out = known->second;
  return true;
}

bool Heap::release_pages(u64 at, const Block& b) {
  if (const auto it = shared_.find(at); it != shared_.end()) {
    close(it->second.descriptor);
    shared_.erase(it);
  }
  const u64 pages = accessible(b.bytes);
  if (mmap(ptr(at), pages, PROT_NONE, kFlags | MAP_FIXED, -1, 0) == MAP_FAILED) return false;
  madvise(ptr(at), pages, MADV_DONTDUMP);
  used_ -= b.cost;
  --mappings_;
  extents_.give(at, b.span);
  return true;
}

// Pages that are given back are unmapped; space in a pool is not.
bool Heap::fresh(u64 address) const {
  std::lock_guard l(m_);
  const auto it = blocks_.find(address);
  return it != blocks_.end() && !it->second.pooled;
}

bool Heap::free(u64 address) {
  std::lock_guard l(m_);
  const auto it = blocks_.find(address);
  if (it == blocks_.end()) return false;
  const Block b = it->second;
  blocks_.erase(it);
  if (!b.pooled) return release_pages(address, b);
  holes_.give(address, b.span);
  const u64 chunk = address / kChunk * kChunk;
  if (holes_.take_at(chunk, kChunk)) {
    const Block pool = pools_.at(chunk);
    pools_.erase(chunk);
    release_pages(chunk, pool);
  }
  return true;
}

u64 Heap::copied_end(u64 address) const {
  std::lock_guard l(m_);
  auto it = blocks_.upper_bound(address);
  if (it == blocks_.begin()) return 0;
  --it;
  if (it->second.pooled) return address / kChunk * kChunk + kChunk;
  const u64 end = it->first + round_up(it->second.bytes, kPage);
  return address < end ? end : 0;
}

}  // namespace us::memory
