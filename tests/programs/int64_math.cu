// SPDX-License-Identifier: Apache-2.0
// 64-bit and 128-bit integers: division, remainder, high products, shifts, bit counts, conversions,
// at random and at the edges.
#include "program.h"
using namespace program;

constexpr int kOps = 24;
__host__ __device__ uint64_t high_product(uint64_t a, uint64_t b) { return uint64_t((unsigned __int128)(a) * b >> 64); }

__host__ __device__ void compute(uint64_t a, uint64_t b, uint64_t* o) {
  const int64_t sa = int64_t(a), sb = int64_t(b), divisor = sb == 0 || sb == -1 ? 7 : sb;
  const uint64_t udivisor = b ? b : 3;
  const int shift = int(b % 64);
  int n = 0;
  o[n++] = a + b;
  o[n++] = a - b;
  o[n++] = a * b;
  o[n++] = a / udivisor;
  o[n++] = a % udivisor;
  o[n++] = uint64_t(sa / divisor);
  o[n++] = uint64_t(sa % divisor);
  o[n++] = high_product(a, b);
  o[n++] = uint64_t((__int128)(sa) * sb >> 64);
  o[n++] = a << shift;
  o[n++] = a >> shift;
  o[n++] = uint64_t(sa >> shift);
  o[n++] = (a << shift) | (a >> ((64 - shift) % 64));
  o[n++] = a / 1000000007u + b / 10 + a % 12345678901ull;
  o[n++] = uint64_t(sa / 1000) + uint64_t(sb % 77);
  o[n++] = uint64_t(sa < sb) + 2 * (a < b) + 4 * (sa == sb) + 8 * (a >= b);
  o[n++] = uint64_t(sa > sb ? sa : sb) ^ (a < b ? a : b);
  o[n++] = uint32_t(a) / uint32_t(udivisor | 1) + uint32_t(int32_t(a) / (int32_t(b) == -1 || int32_t(b) == 0 ? 5 : int32_t(b)));
  const unsigned __int128 wide = (unsigned __int128)(a) << 64 | b;
  o[n++] = uint64_t(wide / (udivisor >> 3 | 1));
  o[n++] = uint64_t(wide % (udivisor >> 3 | 1));
  o[n++] = uint64_t(wide >> (shift + 13)) + uint64_t(wide << shift >> 64);
  o[n++] = uint64_t(int8_t(a)) + uint64_t(uint16_t(b)) + uint64_t(int16_t(a >> 8)) * 3;
  o[n++] = ~a ^ (a & b) ^ (a | b);
  o[n++] = a * 0x9E3779B97F4A7C15ull + (b ^ (b >> 31));
}

__global__ void on_device(const uint64_t* in, uint64_t* out, uint64_t* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  compute(in[2 * i], in[2 * i + 1], out + i * kOps);
  counts[i] = __popcll(in[2 * i]) + 100 * __clzll(in[2 * i]) + 10000 * __ffsll(in[2 * i]) + (__brevll(in[2 * i]) & 0xFFFFFFFF00000000ull) + __umul64hi(in[2 * i], in[2 * i + 1]) +
              uint64_t(__mul64hi(in[2 * i], in[2 * i + 1]));
}

int main() {
  const uint64_t edges[] = {0, 1, 2, 3, 0x7fffffffull, 0x80000000ull, 0xffffffffull, 0x100000000ull, 0x7fffffffffffffffull, 0x8000000000000000ull, ~0ull, ~1ull, 10, 0xdeadbeefull};
  std::vector<uint64_t> in;
  for (uint64_t a : edges)
    for (uint64_t b : edges) in.push_back(a), in.push_back(b);
  for (int k = 0; k < 4000; ++k) {
    const uint64_t a = uint64_t(mix(k)) << 32 | mix(k + 7777), b = uint64_t(mix(k + 99)) << 32 | mix(k + 123);
    in.push_back(a >> (k % 61)), in.push_back(b >> (mix(k) % 63));
  }
  const int n = int(in.size() / 2);
  Device<uint64_t> from(in), out(n * kOps), counts(n);
  on_device<<<(n + 127) / 128, 128>>>(from, out, counts, n);
  MUST_RUN();
  std::vector<uint64_t> want(n * kOps), wanted(n);
  for (int i = 0; i < n; ++i) {
    const uint64_t a = in[2 * i], b = in[2 * i + 1];
    compute(a, b, &want[i * kOps]);
    uint64_t reversed = 0;
    for (int k = 0; k < 64; ++k) reversed |= (a >> k & 1) << (63 - k);
    wanted[i] = __builtin_popcountll(a) + 100 * (a ? __builtin_clzll(a) : 64) + 10000 * (a ? __builtin_ctzll(a) + 1 : 0) + (reversed & 0xFFFFFFFF00000000ull) + high_product(a, b) +
                uint64_t((__int128)(int64_t(a)) * int64_t(b) >> 64);
  }
  expect_equal("64-bit and 128-bit arithmetic", out.copy(), want);
  expect_equal("counts and high products", counts.copy(), wanted);
  return finish();
}
