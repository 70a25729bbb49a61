// SPDX-License-Identifier: Apache-2.0
// What is remembered of the words of a range of addresses, in the ordinary case: weak accesses by one warp at a time.
// Planes beside each other, one number of each for every word, so that the words of 32 lanes are judged together
// (rows.h), and by compiled code.
//
//   w        last writer: segment << 5 | lane; 0 never written; 1 to 31 long ago, ordered for all; kWide: see Shadow
//   r, m     readers since: a segment and its lanes; kWide as w;
//            kMany | s: segment s, then m of another warp of its CTA, and others since the same barrier;
//            kCtas | s: segment s, m of another CTA, and others
//   w_site, r_site   their instructions
//   touched  one byte for each page of 4 KB
#pragma once
#include "base/types.h"

namespace us::sanitizer {

inline constexpr u32 kWide = ~0u, kMany = 1u << 31, kCtas = 1u << 30, kThrown = kMany | kCtas;
inline constexpr u16 kNoSmallSite = 0xffff;
inline constexpr u32 kTouchedBits = 12;

class Planes {
 public:
  Planes() = default;
  Planes(Planes&& o) noexcept { *this = static_cast<Planes&&>(o); }
  Planes& operator=(Planes&& o) noexcept;
  ~Planes();
  // For [begin, begin + bytes); the host's memory is taken where it is touched. False: the host has no room.
  bool reserve(u64 begin, u64 bytes);
  bool holds(u64 address, u64 bytes) const { return address - begin_ < bytes_ && bytes_ - (address - begin_) >= bytes; }
  u64 begin() const { return begin_; }
  u64 bytes() const { return bytes_; }
  void clear(u64 begin, u64 bytes);  // as if never touched

  u32* w(u64 a) const { return at<u32>(0, a - begin_); }
  u32* r(u64 a) const { return at<u32>(1, a - begin_); }
  u32* m(u64 a) const { return at<u32>(2, a - begin_); }
  u16* w_site(u64 a) const { return at<u16>(6, half(a)); }
  u16* r_site(u64 a) const { return at<u16>(7, half(a)); }
  u8* touched(u64 a) const { return touched_ + ((a - begin_) >> kTouchedBits); }

 private:
  // A row may begin before the first word, where its first lanes do nothing.
  u64 half(u64 a) const { return static_cast<u64>(static_cast<i64>(a - begin_) / 2); }
  // Half planes of `half_` bytes: 0 w, 2 r, 4 m, 6 w_site, 7 r_site.
  template <class T>
  T* at(u64 plane, u64 offset) const {
    return reinterpret_cast<T*>(base_ + (plane < 3 ? 2 * plane : plane) * half_ + offset);
  }
  u64 begin_ = 0, bytes_ = 0, half_ = 0, mapped_ = 0;
  u8 *base_ = nullptr, *touched_ = nullptr;
};

}  // namespace us::sanitizer
