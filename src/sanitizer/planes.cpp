// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/planes.h"

#include <sys/mman.h>

#include <cstring>
#include <utility>

namespace us::sanitizer {
namespace {

constexpr u64 kPage = 4096, kApart = 3 * 4096 + 192;  // planes do not share sets of the host's cache

u64 rounded(u64 n) { return (n + kPage - 1) / kPage * kPage; }

// Zeroes; whole pages are given back.
void wipe(u8* at, u64 bytes) {
  constexpr u64 kWorth = 16 * kPage;
  if (bytes >= kWorth) {
    const u64 head = -reinterpret_cast<u64>(at) % kPage, whole = (bytes - head) / kPage * kPage;
    if (::madvise(at + head, whole, MADV_DONTNEED) == 0) {
      std::memset(at, 0, head);
      at += head + whole, bytes -= head + whole;
    }
  }
  std::memset(at, 0, bytes);
}

}  // namespace

Planes& Planes::operator=(Planes&& o) noexcept {
  std::swap(begin_, o.begin_), std::swap(bytes_, o.bytes_), std::swap(half_, o.half_), std::swap(mapped_, o.mapped_);
  std::swap(base_, o.base_), std::swap(touched_, o.touched_);
  return *this;
}

Planes::~Planes() {
  if (base_) ::munmap(base_ - kPage, mapped_);
}

bool Planes::reserve(u64 begin, u64 bytes) {
  const u64 half = rounded((bytes + 1) / 2) + kApart, touched = (bytes >> kTouchedBits) + 2;
  const u64 all = rounded(kPage + 8 * half + touched);
  void* const at = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  constexpr u64 kLarge = u64{1} << 30;
  if (bytes >= kLarge) ::madvise(at, all, MADV_HUGEPAGE);  // or each page costs two faults
  base_ = static_cast<u8*>(at) + kPage, mapped_ = all, half_ = half;
  touched_ = base_ + 8 * half;
  begin_ = begin, bytes_ = bytes;
  return true;
}

void Planes::clear(u64 begin, u64 bytes) {
  const u64 from = begin < begin_ ? begin_ : begin & ~u64{3};
  const u64 end = begin + bytes < begin_ + bytes_ ? begin + bytes : begin_ + bytes_;
  if (from >= end) return;
  wipe(reinterpret_cast<u8*>(w(from)), end - from);
  wipe(reinterpret_cast<u8*>(r(from)), end - from);
}

}  // namespace us::sanitizer
