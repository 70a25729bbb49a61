// SPDX-License-Identifier: Apache-2.0
#include "memory/address_space.h"

#include <sys/mman.h>

#include <algorithm>

namespace us::memory {
namespace {

constexpr u64 kPage = 4096;
constexpr u64 kWindows = u64{1} << 45;
// A host with little room: sanitizers, `ulimit -v`.
constexpr u64 kLeastApart = u64{1} << 39, kLeast = u64{1} << 34, kSmallGap = 16u << 20;
constexpr int kNoAccess = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void* ptr(u64 a) { return reinterpret_cast<void*>(a); }
u64 address(void* p) { return p == MAP_FAILED ? 0 : reinterpret_cast<u64>(p); }

}  // namespace

AddressSpace::AddressSpace() {
  u64 windows = kWindows;
  for (u64 global = kUsualBytes; global >= kLeastApart && !base_; global /= 2, windows /= 2)
    reserve(kReach, global, windows);
  apart_ = base_ != 0;
  for (u64 global = kLeastApart; global >= kLeast && !base_; global /= 2) reserve(0, global, global / 2);
  if (windows_bytes_ < kWindows / 8) window_gap_ = kSmallGap;
  if (windows_bytes_ < kLeastApart) window_gap_ = 0;
}

// The global part begins and ends with `reach` bytes that stay empty: a legal access has its array's address inside.
bool AddressSpace::reserve(u64 reach, u64 global, u64 windows) {
  bytes_ = reach + global + reach + windows + kSmallGap;
  base_ = address(mmap(ptr(kUsualStart - kReach), bytes_, PROT_NONE, kNoAccess, -1, 0));
  if (!base_) return false;
  madvise(ptr(base_), bytes_, MADV_DONTDUMP);
  global_ = base_ + reach, global_bytes_ = global;
  windows_ = global_ + global_bytes_ + reach, windows_bytes_ = windows;
  free_.give(round_up(global_ + reach, kPage), global_bytes_ - 2 * reach);
  free_windows_.give(windows_, windows_bytes_);
  return true;
}

AddressSpace::~AddressSpace() {
  if (base_) munmap(ptr(base_), bytes_);
}

u64 AddressSpace::take(u64 bytes, u64 align, u64 wished) {
  std::lock_guard l(m_);
  const u64 span = round_up(bytes, kPage) + kPage;
  if (bytes > global_bytes_) return 0;
  align = std::max(align, kPage);
  if (wished && wished % align == 0 && free_.take_at(wished, span)) return wished;
  return free_.take_next(span, align);
}

void AddressSpace::give(u64 at, u64 bytes) {
  const u64 span = round_up(bytes, kPage);
  mmap(ptr(at), span, PROT_NONE, kNoAccess | MAP_FIXED, -1, 0);
  madvise(ptr(at), span, MADV_DONTDUMP);
  std::lock_guard l(m_);
  free_.give(at, span + kPage);
}

u64 AddressSpace::map(u64 bytes) {
  const u64 at = take(bytes, kPage);
  if (at && mprotect(ptr(at), round_up(bytes, kPage), PROT_READ | PROT_WRITE) == 0) return at;
  if (at) give(at, bytes);
  return 0;
}

u64 AddressSpace::map_file(u64 bytes, int file) {
  const u64 at = take(bytes, kPage);
  if (at && mmap(ptr(at), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED) return at;
  if (at) give(at, bytes);
  return 0;
}

u64 AddressSpace::map_window(u64 bytes) {
  u64 at = 0;
  {
    std::lock_guard l(m_);
    at = free_windows_.take(round_up(bytes, kPage) + window_gap_, u64{16} << 20);
  }
  if (at && mprotect(ptr(at), round_up(bytes, kPage), PROT_READ | PROT_WRITE) == 0) return at;
  if (at) give_window(at, bytes);
  return 0;
}

void AddressSpace::give_window(u64 at, u64 bytes) {
  const u64 span = round_up(bytes, kPage);
  mmap(ptr(at), span, PROT_NONE, kNoAccess | MAP_FIXED, -1, 0);
  std::lock_guard l(m_);
  free_windows_.give(at, span + window_gap_);
}

}  // namespace us::memory
