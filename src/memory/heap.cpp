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
constexpr u64 kReserve = u64{4} << 40;  // address space per device
constexpr u64 kPagedFrom = 64u << 10;   // from this size on an allocation has its own pages
constexpr u64 kManyMappings = 8192;     // beyond, small page-sized allocations share pools (the kernel limits mappings)
constexpr u64 kTooManyMappings = 28000;  // beyond, allocations stand without a gap so that mappings merge
constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

u64 round_up(u64 v, u64 to) { return (v + to - 1) / to * to; }
// What of an allocation can be accessed: as on the device, a big one up to the end of its last chunk (an H200 read the last
// byte of that for 2 MB + 4, 5 MB and 33 MB, and faulted at the next).
u64 accessible(u64 bytes) { return round_up(bytes, bytes >= kChunk ? kChunk : kPage); }
void* ptr(u64 a) { return reinterpret_cast<void*>(a); }

u64 reserve(u64 hint, u64 bytes) {
  void* at = mmap(ptr(hint), bytes, PROT_NONE, kFlags, -1, 0);
  return at == MAP_FAILED ? 0 : reinterpret_cast<u64>(at);
}

// Takes [at, at + bytes) out of a map of free extents.
void carve(std::map<u64, u64>& free, std::map<u64, u64>::iterator it, u64 at, u64 bytes) {
  const u64 start = it->first, end = it->first + it->second;
  free.erase(it);
  if (at > start) free[start] = at - start;
  if (at + bytes < end) free[at + bytes] = end - at - bytes;
}

// Puts [at, at + bytes) back and joins it with its neighbours; returns the joined extent.
std::map<u64, u64>::iterator merge(std::map<u64, u64>& free, u64 at, u64 bytes) {
  auto next = free.lower_bound(at);
  if (next != free.end() && at + bytes == next->first) {
    bytes += next->second;
    next = free.erase(next);
  }
  if (next != free.begin()) {
    auto prev = std::prev(next);
    if (prev->first + prev->second == at) {
      prev->second += bytes;
      return prev;
    }
  }
  return free.emplace(at, bytes).first;
}

}  // namespace

Heap::Heap(u64 capacity, u64 hint) : capacity_(capacity) {
  for (u64 bytes = std::max(kReserve, round_up(capacity, kChunk) * 2); bytes >= (u64{1} << 30) && !base_; bytes /= 2) {
    base_ = reserve(hint, bytes);
    reserved_ = bytes;
  }
  US_CHECK(base_ != 0);
  madvise(ptr(base_), reserved_, MADV_DONTDUMP);
  const u64 start = round_up(base_ + kChunk, kChunk);
  extents_[start] = base_ + reserved_ - kChunk - start;
  cursor_ = start;
}

Heap::~Heap() {
  munmap(ptr(base_), reserved_);
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

// First fit from where the last allocation ended, then from the start.
u64 Heap::take(u64 bytes, u64 align) {
  const auto fit = [&](auto from, auto to) -> u64 {
    for (auto it = from; it != to; ++it) {
      const u64 at = round_up(it->first, align);
      if (at + bytes > it->first + it->second) continue;
      carve(extents_, it, at, bytes);
      cursor_ = at + bytes;
      return at;
    }
    return 0;
  };
  if (const u64 at = fit(extents_.lower_bound(cursor_), extents_.end())) return at;
  return fit(extents_.begin(), extents_.end());
}

void Heap::give(u64 at, u64 bytes) { merge(extents_, at, bytes); }

u64 Heap::allocate_pages(u64 bytes, u64 align) {
  const u64 cost = round_up(bytes, bytes >= kChunk / 2 ? kChunk : kPage);
  if (used_ + cost > capacity_) return 0;
  const u64 pages = accessible(bytes);
  const u64 gap = align == kChunk || mappings_ < kTooManyMappings ? kPage : 0;  // pools never touch
  align = std::max(align, bytes >= kChunk ? kChunk : gap ? kSlot : kPage);
  const u64 at = take(pages + gap, align);
  if (!at) return 0;
  if (mprotect(ptr(at), pages, PROT_READ | PROT_WRITE) != 0) {
    give(at, pages + gap);
    return 0;
  }
  if (bytes >= 2 * kChunk) madvise(ptr(at), pages, MADV_HUGEPAGE);
  blocks_[at] = {bytes, pages + gap, cost, false};
  used_ += cost;
  ++mappings_;
  return at;
}

u64 Heap::allocate_small(u64 bytes, u64 align) {
  const u64 span = round_up(bytes, kSmallAlign);
  align = std::max(align, kSmallAlign);
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (auto it = holes_.begin(); it != holes_.end(); ++it) {
      const u64 at = round_up(it->first, align);
      if (at + span > it->first + it->second) continue;
      carve(holes_, it, at, span);
      blocks_[at] = {bytes, span, 0, true};
      return at;
    }
    const u64 chunk = allocate_pages(kChunk, kChunk);
    if (!chunk) return 0;
    pools_.insert(blocks_.extract(chunk));
    holes_[chunk] = kChunk;
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
  give(at, b.span);
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
  const auto hole = merge(holes_, address, b.span);
  const auto [chunk, bytes] = *hole;
  if (bytes == kChunk) {
    holes_.erase(hole);
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
