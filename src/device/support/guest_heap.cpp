// SPDX-License-Identifier: Apache-2.0
#include "device/support/guest_heap.h"

#include <sys/mman.h>

#include <mutex>

#include "device/heap_listener.h"

namespace us::device {
namespace {
constexpr u64 kGrain = 16;
constexpr u64 kBetween = 32;  // bytes that nobody has, where somebody hears of accesses that go there

HeapListener& listener() {
  static HeapListener l;
  return l;
}
}  // namespace

void listen_to_heaps(HeapListener l) { listener() = std::move(l); }

GuestHeap::~GuestHeap() {
  if (base_ && space_) space_->give(u64(base_), bytes_);
  if (base_ && !space_) munmap(base_, bytes_);
}

void GuestHeap::insert_free(u64 at, u64 bytes) {
  by_size_.insert({bytes, at});
  starts_[at] = bytes;
  ends_[at + bytes] = bytes;
}

void GuestHeap::erase_free(u64 at, u64 bytes) {
  by_size_.erase({bytes, at});
  starts_.erase(at);
  ends_.erase(at + bytes);
}

bool GuestHeap::resize(u64 bytes) {
  std::lock_guard lock(m_);
  if (base_) return bytes == bytes_;
  bytes_ = bytes;
  return true;
}

u64 GuestHeap::allocate(u64 bytes) {
  if (bytes == 0 || bytes > bytes_) return 0;
  std::lock_guard lock(m_);
  if (!base_) {
    void* p = space_
                  ? reinterpret_cast<void*>(space_->map(bytes_))
                  : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!p || p == MAP_FAILED) return 0;
    base_ = static_cast<u8*>(p);
    insert_free(0, bytes_ / kGrain * kGrain);
  }
  u64 need = (bytes + kGrain - 1) / kGrain * kGrain;
  auto best = by_size_.lower_bound({listener() ? need + kBetween : need, 0});
  if (best != by_size_.end() && listener()) need += kBetween;
  if (best == by_size_.end()) best = by_size_.lower_bound({need, 0});
  if (best == by_size_.end()) return 0;
  auto [have, at] = *best;
  erase_free(at, have);
  if (have > need) insert_free(at + need, have - need);
  taken_[at] = need;
  if (const HeapListener& l = listener()) l(u64(base_) + at, bytes, true);
  return u64(base_) + at;
}

bool GuestHeap::contains(u64 address, u64 bytes) {
  std::lock_guard lock(m_);
  const u64 base = u64(base_);
  return base && address >= base && address - base <= bytes_ && bytes <= bytes_ - (address - base);
}

bool GuestHeap::free(u64 address) {
  if (address == 0) return true;
  std::lock_guard lock(m_);
  auto block = taken_.find(address - u64(base_));
  if (!base_ || block == taken_.end()) return false;
  u64 at = block->first, bytes = block->second;
  taken_.erase(block);
  if (const HeapListener& l = listener()) l(address, bytes, false);
  if (auto next = starts_.find(at + bytes); next != starts_.end()) {
    u64 more = next->second;
    erase_free(at + bytes, more);
    bytes += more;
  }
  if (auto previous = ends_.find(at); previous != ends_.end()) {
    u64 more = previous->second;
    erase_free(at - more, more);
    at -= more, bytes += more;
  }
  insert_free(at, bytes);
  return true;
}

}  // namespace us::device
