// SPDX-License-Identifier: Apache-2.0
// Arguments for matrix instructions, made from a form's seed, the number of the instance, the register and the lane.
// Sixteen patterns take turns: anything, moderate, cancellation, subnormals, overflow, infinities and NaNs among them.
#pragma once
#include <cstdint>

#ifdef __CUDACC__
#define MMA_FN __host__ __device__ inline
#else
#define MMA_FN inline
#endif

namespace mma_inputs {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum Kind : u32 { kF16, kBF16, kTF32, kF32, kF64, kE4M3, kE5M2, kBits, kS32, kSparse4, kSparse2 };
enum Role : u32 { kA, kB, kC, kMeta };

MMA_FN u64 mix(u64 x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

struct Layout {
  int bits, exponent, mantissa;
};
MMA_FN Layout layout(u32 kind) {
  switch (kind) {
    case kF16:
      return {16, 5, 10};
    case kBF16:
      return {16, 8, 7};
    case kF64:
      return {64, 11, 52};
    case kE4M3:
      return {8, 4, 3};
    case kE5M2:
      return {8, 5, 2};
    default:
      return {32, 8, 23};
  }
}

MMA_FN int below(u64 r, int n) { return static_cast<int>((r & 0xffff) * static_cast<u64>(n) >> 16); }

// One element: r is 64 random bits.
MMA_FN u64 element(u32 kind, u32 role, u32 pattern, u64 r) {
  const Layout f = layout(kind);
  const int top = (1 << f.exponent) - 1, bias = top / 2;
  const u64 fraction = (1ull << f.mantissa) - 1;
  const u64 raw = f.bits == 64 ? mix(r) : mix(r) & ((1ull << f.bits) - 1);
  const u64 pick = r >> 16, small = r >> 32;  // independent enough for choices
  u64 m = raw & fraction;
  const u64 sign = r >> 63;
  int e = bias;
  bool zero = false;
  const bool c = role == kC;
  switch (pattern) {
    case 0:
      return raw;
    case 1:
      e = below(r, top);
      break;
    case 2:
      e = bias - 2 + below(r, 4);
      break;
    case 3:
      e = bias - 6 + below(r, 12);
      break;
    case 4:
      e = bias - 12 + below(r, 24);
      break;
    case 5:
      e = c ? bias + 8 + below(r, 24) : bias - 3 + below(r, 6);
      break;
    case 6:
      e = c ? bias - 31 + below(r, 24) : bias - 3 + below(r, 6);
      break;
    case 7:
    case 8: {
      const int which = below(pick, 3), far = pattern == 8;
      m = which == 0 ? 0 : which == 1 ? 1 : fraction;
      e = far ? bias + below(r, 2) * (role == kA ? 10 : role == kB ? 13 : 26) : bias + below(r, c ? 5 : 2);
      break;
    }
    case 9:
      e = role == kA ? below(r, 2) : role == kB ? top - 1 - below(r, top / 2) : below(r, 4);
      zero = c && (pick & 1);
      break;
    case 10:
      e = below(r, 13);
      zero = c && (pick & 3) == 0;
      break;
    case 11:
      e = bias - 8 + below(r, 16);
      zero = c ? (pick & 1) : (pick & 3) != 0;
      break;
    case 12: {
      e = bias - 3 + below(r, 6);
      if ((pick & (c ? 7 : 31)) == 0) {
        const int which = below(small, 5);
        e = which == 4 ? 0 : which == 3 ? top - 1 : top;
        m = which <= 1 || which == 4 ? 0 : which == 2 ? (raw & fraction) | 1 : fraction;
      }
      break;
    }
    case 13:
      e = top - 1 - below(r, 7);
      if (kind == kBF16 || kind == kTF32) e = bias + (top - bias) / 2 - 2 + below(r, 5);
      if (kind == kF32) e = top - 1 - below(r, 5);
      break;
    case 14:
      e = (pick & 15) == 0 ? bias + 10 : bias - 4 + below(r, 4);
      break;
    default:
      e = bias - 4 + below(r, 8);
      m = (1ull << below(pick, f.mantissa + 1) | 1ull << below(small, f.mantissa + 1)) & fraction;
      break;
  }
  if (e < 0) e = 0;
  if (e >= top && pattern != 12) e = top - 1;
  if (zero) e = 0, m = 0;
  return sign << (f.bits - 1) | static_cast<u64>(e) << f.mantissa | m;
}

// The bits of one register (64 for f64, else 32) of one lane.
MMA_FN u64 reg(u64 seed, u64 instance, u32 number, u32 lane, u32 kind, u32 role) {
  const u64 r = mix(seed * 0x632be59bd9b4e019ull + (instance << 16) + number * 32 + lane);
  const u32 pattern = instance & 15;
  if (kind == kBits) {
    if (pattern < 8) return r & 0xffffffffu;
    const u32 extreme[4] = {0x80, 0x7f, 0xff, 0x01};
    u32 v = 0;
    for (int k = 0; k < 4; ++k) v |= extreme[r >> (8 + 2 * k) & 3] << (8 * k);
    return pattern < 12 ? v : v & static_cast<u32>(r >> 32);
  }
  if (kind == kS32) {
    if (pattern < 4) return r & 0xffffffffu;
    const u32 edge = r >> 63 ? 0x80000000u : 0x7fffffffu;
    if (pattern & 1) return (edge ^ (static_cast<u32>(r) & 0xffff)) & 0xffffffffu;
    return static_cast<u32>(r) & 0xffff;
  }
  if (kind == kSparse4 || kind == kSparse2) {
    u32 v = 0;
    for (int k = 0; k < 8; ++k) {
      const u32 four[6] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}, two[2] = {0x4, 0xe};
      const u32 choice = static_cast<u32>(r >> (8 * k)) & 0xff;
      v |= (kind == kSparse4 ? four[choice * 6 >> 8] : two[choice & 1]) << (4 * k);
    }
    return v;
  }
  const int bits = layout(kind).bits;
  if (bits == 64) return element(kind, role, pattern, r);
  u64 v = 0;
  for (int at = 0; at < 32; at += bits)
    v |= element(kind, role, pattern, mix(r + static_cast<u64>(at) * 0x100000001b3ull)) << at;
  if (kind == kTF32 && (instance & 16)) v &= ~0x1fffull;
  return v;
}

// What an output word at a place adds to the hash of its instance.
MMA_FN u64 hashed(u64 word, u64 place) { return mix(word ^ mix(place)); }

}  // namespace mma_inputs
