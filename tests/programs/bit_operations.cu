// SPDX-License-Identifier: Apache-2.0
// Bit counting, byte permutation, funnel shifts, dot products, SIMD-in-a-word and saturating intrinsics.
#include <algorithm>

#include "program.h"
using namespace program;

constexpr int kOps = 27;
__global__ void compute(uint32_t* out, const uint32_t* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint32_t a = in[i], b = in[i + 1], c = in[i + 2];
  uint32_t* o = out + i * kOps;
  o[0] = __popc(a), o[1] = __clz(a), o[2] = __ffs(a), o[3] = __brev(a);
  o[4] = __byte_perm(a, b, c), o[5] = __funnelshift_l(a, b, c), o[6] = __funnelshift_r(a, b, c), o[7] = __funnelshift_lc(a, b, c), o[8] = __funnelshift_rc(a, b, c);
  o[9] = __dp4a(int(a), int(b), int(c)), o[10] = __dp4a(a, b, c), o[11] = __dp2a_lo(a, b, c), o[12] = __dp2a_hi(int(a), int(b), int(c));
  o[13] = __umulhi(a, b), o[14] = uint32_t(__mulhi(int(a), int(b))), o[15] = __umul24(a, b), o[16] = uint32_t(__mul24(int(a), int(b)));
  o[17] = __sad(int(a), int(b), c), o[18] = __usad(a, b, c), o[19] = __vadd4(a, b), o[20] = __vmaxu2(a, b), o[21] = __vabsdiffu4(a, b), o[22] = __vcmpgtu4(a, b);
  o[23] = __uhadd(a, b), o[24] = uint32_t(__rhadd(int(a), int(b)));
  uint32_t r;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b % 40), "r"(c % 40));
  o[25] = r;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c % 40), "r"(a % 37));
  o[26] = r;
}

uint32_t byte_of(uint64_t pair, uint32_t selector) {
  const uint32_t byte = pair >> (8 * (selector & 7)) & 255;
  return byte;
}
int8_t s8(uint32_t v, int k) { return int8_t(v >> (8 * k)); }
uint8_t u8(uint32_t v, int k) { return uint8_t(v >> (8 * k)); }

void reference(uint32_t* o, uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t pair = uint64_t(b) << 32 | a;
  const uint32_t shift = c & 31, clamped = std::min(c, 32u);
  o[0] = __builtin_popcount(a), o[1] = a ? __builtin_clz(a) : 32, o[2] = __builtin_ffs(a), o[3] = 0;
  for (int k = 0; k < 32; ++k) o[3] |= (a >> k & 1) << (31 - k);
  o[4] = 0;
  for (int k = 0; k < 4; ++k) o[4] |= byte_of(pair, c >> (4 * k)) << (8 * k);
  o[5] = uint32_t(pair << shift >> 32), o[6] = uint32_t(pair >> shift);
  o[7] = uint32_t(clamped == 32 ? a : pair << clamped >> 32), o[8] = uint32_t(pair >> clamped);
  int64_t dot = int32_t(c);
  uint32_t udot = c, lo = c;
  int32_t hi = int32_t(c);
  for (int k = 0; k < 4; ++k) dot += s8(a, k) * s8(b, k), udot += u8(a, k) * u8(b, k);
  for (int k = 0; k < 2; ++k) lo += uint16_t(a >> (16 * k)) * u8(b, k), hi = int32_t(uint32_t(hi) + uint32_t(int16_t(a >> (16 * k)) * s8(b, k + 2)));
  o[9] = uint32_t(dot), o[10] = udot, o[11] = lo, o[12] = uint32_t(hi);
  o[13] = uint32_t(uint64_t(a) * b >> 32), o[14] = uint32_t(int64_t(int32_t(a)) * int32_t(b) >> 32);
  o[15] = uint32_t(uint64_t(a & 0xffffff) * (b & 0xffffff));
  o[16] = uint32_t(int64_t(int32_t(a << 8) >> 8) * (int32_t(b << 8) >> 8));
  o[17] = uint32_t(std::abs(int64_t(int32_t(a)) - int32_t(b)) + c), o[18] = (a > b ? a - b : b - a) + c;
  o[19] = o[21] = o[22] = 0;
  for (int k = 0; k < 4; ++k) {
    o[19] |= uint32_t(uint8_t(u8(a, k) + u8(b, k))) << (8 * k);
    o[21] |= uint32_t(std::abs(u8(a, k) - u8(b, k))) << (8 * k);
    o[22] |= (u8(a, k) > u8(b, k) ? 255u : 0u) << (8 * k);
  }
  o[20] = std::max(a & 0xffff, b & 0xffff) | std::max(a >> 16, b >> 16) << 16;
  o[23] = uint32_t((uint64_t(a) + b) >> 1), o[24] = uint32_t((int64_t(int32_t(a)) + int32_t(b) + 1) >> 1);
  const uint32_t at = b % 40, length = c % 40;
  o[25] = at >= 32 || length == 0 ? 0 : length >= 32 ? a >> at : (a >> at) & ((1u << length) - 1);
  const uint32_t to = c % 40, count = a % 37;
  uint32_t field = b;
  for (uint32_t k = 0; k < count && to + k < 32; ++k) field = (field & ~(1u << (to + k))) | ((k < 32 ? a >> k & 1 : 0) << (to + k));
  o[26] = field;
}

int main() {
  std::vector<uint32_t> in = random_words(3000, 31);
  for (uint32_t v : {0u, 1u, 0xffffffffu, 0x80000000u, 0x7fffffffu, 32u, 31u, 33u, 0u, 0u}) in.push_back(v);
  const int n = int(in.size()) - 2;
  Device<uint32_t> from(in), out(n * kOps);
  compute<<<(n + 127) / 128, 128>>>(out, from, n);
  MUST_RUN();
  std::vector<uint32_t> want(n * kOps), got = out.copy();
  for (int i = 0; i < n; ++i) reference(&want[i * kOps], in[i], in[i + 1], in[i + 2]);
  for (int k = 0; k < kOps; ++k) {
    std::vector<uint32_t> g, w;
    for (int i = 0; i < n; ++i) g.push_back(got[i * kOps + k]), w.push_back(want[i * kOps + k]);
    char name[24];
    std::snprintf(name, sizeof name, "operation %d", k);
    expect_equal(name, g, w);
  }
  return finish();
}
