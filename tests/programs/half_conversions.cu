// SPDX-License-Identifier: Apache-2.0
// Half and bfloat16: every half to float, floats to half and bfloat16 in each rounding mode, arithmetic on pairs.
// The CPU twin rounds from doubles by hand.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>

#include "program.h"
using namespace program;

constexpr int kWays = 8;
__global__ void widen(float* out, float* from_bf) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __half2float(__ushort_as_half(i));
  from_bf[i] = __bfloat162float(__ushort_as_bfloat16(i));
}
__global__ void narrow(uint16_t* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float f = in[i];
  out[i * kWays + 0] = __half_as_ushort(__float2half_rn(f));
  out[i * kWays + 1] = __half_as_ushort(__float2half_rz(f));
  out[i * kWays + 2] = __half_as_ushort(__float2half_rd(f));
  out[i * kWays + 3] = __half_as_ushort(__float2half_ru(f));
  out[i * kWays + 4] = __bfloat16_as_ushort(__float2bfloat16_rn(f));
  out[i * kWays + 5] = __bfloat16_as_ushort(__float2bfloat16_rz(f));
  out[i * kWays + 6] = __half_as_ushort(__double2half(double(f) * 1.0001));
  out[i * kWays + 7] = __half_as_ushort(__int2half_rn(int(mix(i) >> 12) - 500000));
}
__global__ void arithmetic(__half2* out, const uint32_t* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint32_t mask = 0xBFFFBFFF;  // clears the top exponent bit: no overflow, no NaN
  const uint32_t wa = in[i] & mask, wb = in[i + 1] & mask;
  const __half2 a = *reinterpret_cast<const __half2*>(&wa), b = *reinterpret_cast<const __half2*>(&wb);
  out[4 * i] = __hadd2(a, b);
  out[4 * i + 1] = __hmul2(a, b);
  out[4 * i + 2] = __hfma2(a, b, a);
  out[4 * i + 3] = __hmax2(__hsub2(a, b), __hneg2(b));
}

float half_value(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double v = exponent == 0 ? std::ldexp(fraction, -24) : exponent == 31 ? (fraction ? NAN : INFINITY) : std::ldexp(1024 + fraction, exponent - 25);
  return float(h & 0x8000 ? -v : v);
}

enum Rounding { kNearest, kZero, kDown, kUp };
// Rounds a finite double to a format with `digits` significant bits and least exponent `least`.
double round_to(double v, int digits, int least, double largest, Rounding mode) {
  if (v == 0) return v;
  int e;
  std::frexp(v, &e);
  const double unit = std::ldexp(1.0, std::max(e - digits, least));
  double q = v / unit;
  q = mode == kNearest ? std::nearbyint(q) : mode == kZero ? std::trunc(q) : mode == kDown ? std::floor(q) : std::ceil(q);
  double r = q * unit;
  if (std::fabs(r) > largest) {
    const bool to_infinity = mode == kNearest || (mode == kDown && r < 0) || (mode == kUp && r > 0);
    r = std::copysign(to_infinity ? INFINITY : largest, v);
  }
  return std::copysign(r, v);
}
uint16_t half_bits(double v, Rounding mode = kNearest) {
  const double r = round_to(v, 11, -24, 65504, mode), a = std::fabs(r);
  const uint16_t sign = std::signbit(r) ? 0x8000 : 0;
  if (std::isinf(a)) return sign | 0x7C00;
  int e;
  std::frexp(a, &e);
  if (a == 0 || e < -13) return sign | uint16_t(std::ldexp(a, 24));
  return sign | uint16_t((e + 14) << 10) | (uint16_t(std::ldexp(a, 11 - e)) & 1023);
}
uint16_t bfloat_bits(float v, Rounding mode) {
  const float r = float(round_to(v, 8, -133, 3.3895313892515355e38, mode));
  uint32_t bits;
  std::memcpy(&bits, &r, 4);
  return bits >> 16;
}

int main() {
  Device<float> wide(65536), from_bf(65536);
  widen<<<256, 256>>>(wide, from_bf);
  MUST_RUN();
  std::vector<float> got = wide.copy(), got_bf = from_bf.copy(), want(65536), want_bf(65536);
  for (uint32_t i = 0; i < 65536; ++i) {
    want[i] = half_value(i);
    const uint32_t bits = i << 16;
    std::memcpy(&want_bf[i], &bits, 4);
    if (std::isnan(want[i]) && std::isnan(got[i])) want[i] = got[i] = 0;
    if (std::isnan(want_bf[i]) && std::isnan(got_bf[i])) want_bf[i] = got_bf[i] = 0;
  }
  expect_equal("half to float", got, want);
  expect_equal("bfloat16 to float", got_bf, want_bf);

  std::vector<float> in;
  for (uint32_t i = 0; i < 20000; ++i) {
    const uint32_t bits = (mix(i) & 0x807FFFFF) | ((100 + mix(i + 5) % 46) << 23);
    float f;
    std::memcpy(&f, &bits, 4);
    in.push_back(f);
  }
  for (float f : {0.f, -0.f, 65504.f, 65519.f, 65520.f, -65536.f, 1e38f, 5.96e-8f, 2.98e-8f, 2.981e-8f, 6.1e-5f, 1.f, 1.00048828125f, 1.0009765f, 3.39e38f}) in.push_back(f);
  const int n = int(in.size());
  Device<float> from(in);
  Device<uint16_t> out(n * kWays);
  narrow<<<(n + 127) / 128, 128>>>(out, from, n);
  MUST_RUN();
  std::vector<uint16_t> bits(n * kWays);
  for (int i = 0; i < n; ++i) {
    uint16_t* o = &bits[i * kWays];
    o[0] = half_bits(in[i]), o[1] = half_bits(in[i], kZero), o[2] = half_bits(in[i], kDown), o[3] = half_bits(in[i], kUp);
    o[4] = bfloat_bits(in[i], kNearest), o[5] = bfloat_bits(in[i], kZero);
    o[6] = half_bits(double(in[i]) * 1.0001), o[7] = half_bits(int(mix(i) >> 12) - 500000);
  }
  expect_equal("float to half and bfloat16", out.copy(), bits);

  const std::vector<uint32_t> words = random_words(8001, 12);
  Device<uint32_t> packed(words);
  Device<__half2> results(4 * 8000);
  arithmetic<<<63, 128>>>(results, packed, 8000);
  MUST_RUN();
  std::vector<uint16_t> pairs(8 * 8000), got_pairs(8 * 8000);
  std::vector<__half2> raw = results.copy();
  std::memcpy(got_pairs.data(), raw.data(), got_pairs.size() * 2);
  for (int i = 0; i < 8000; ++i)
    for (int side = 0; side < 2; ++side) {
      const double a = half_value(uint16_t((words[i] & 0xBFFFBFFF) >> (16 * side))), b = half_value(uint16_t((words[i + 1] & 0xBFFFBFFF) >> (16 * side)));
      uint16_t* o = &pairs[8 * i + side];
      o[0] = half_bits(a + b), o[2] = half_bits(a * b), o[4] = half_bits(a * b + a);
      const double difference = half_value(half_bits(a - b));
      o[6] = half_bits(difference > -b ? difference : -b);
    }
  expect_equal("arithmetic on pairs", got_pairs, pairs);
  return finish();
}
