// SPDX-License-Identifier: Apache-2.0
// Correctly rounded float and double operations against the CPU, in the rounding modes both have,
// and conversions to integers.
#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "program.h"
using namespace program;

constexpr int kFloatOps = 18, kDoubleOps = 13, kModes = 16;
__global__ void floats(float* o, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = in[i], b = in[i + 1], c = in[i + 2];
  o += i * kFloatOps;
  o[0] = __fadd_rn(a, b), o[1] = __fsub_rn(a, b), o[2] = __fmul_rn(a, b), o[3] = __fdiv_rn(a, b), o[4] = __fmaf_rn(a, b, c), o[5] = __fsqrt_rn(fabsf(a));
  o[6] = fminf(a, b), o[7] = fmaxf(a, b), o[8] = floorf(a), o[9] = ceilf(a), o[10] = truncf(a), o[11] = rintf(a), o[12] = roundf(a);
  o[13] = __frcp_rn(b), o[14] = copysignf(a, b), o[15] = float(int(fminf(fmaxf(a, -1e9f), 1e9f))), o[16] = fmodf(a, b), o[17] = fdimf(a, b);
}
void floats_reference(float* o, float a, float b, float c) {
  o[0] = a + b, o[1] = a - b, o[2] = a * b, o[3] = a / b, o[4] = std::fmaf(a, b, c), o[5] = std::sqrt(std::fabs(a));
  o[6] = std::fmin(a, b), o[7] = std::fmax(a, b), o[8] = std::floor(a), o[9] = std::ceil(a), o[10] = std::trunc(a), o[11] = std::rint(a), o[12] = std::round(a);
  o[13] = 1.0f / b, o[14] = std::copysign(a, b), o[15] = float(int(std::fmin(std::fmax(a, -1e9f), 1e9f))), o[16] = std::fmod(a, b), o[17] = std::fdim(a, b);
}

__global__ void doubles(double* o, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double a = in[i] * 1.000000123, b = in[i + 1] / 3.0, c = in[i + 2];
  o += i * kDoubleOps;
  o[0] = __dadd_rn(a, b), o[1] = __dsub_rn(a, b), o[2] = __dmul_rn(a, b), o[3] = __ddiv_rn(a, b), o[4] = __fma_rn(a, b, c), o[5] = __dsqrt_rn(fabs(a));
  o[6] = fmin(a, b), o[7] = fmax(a, b), o[8] = floor(a), o[9] = rint(a), o[10] = __drcp_rn(b), o[11] = double(float(a)), o[12] = double((long long)(fmin(fmax(a, -1e18), 1e18)));
}
void doubles_reference(double* o, float x, float y, float z) {
  const double a = x * 1.000000123, b = y / 3.0, c = z;
  o[0] = a + b, o[1] = a - b, o[2] = a * b, o[3] = a / b, o[4] = std::fma(a, b, c), o[5] = std::sqrt(std::fabs(a));
  o[6] = std::fmin(a, b), o[7] = std::fmax(a, b), o[8] = std::floor(a), o[9] = std::rint(a), o[10] = 1.0 / b, o[11] = double(float(a)), o[12] = double((long long)(std::fmin(std::fmax(a, -1e18), 1e18)));
}

__global__ void modes(uint64_t* o, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = in[i], b = in[i + 1];
  const auto f = [](float v) { return uint64_t(__float_as_uint(v)); };
  const auto d = [](double v) { return uint64_t(__double_as_longlong(v)); };
  o += i * kModes;
  o[0] = f(__fadd_rd(a, b)), o[1] = f(__fadd_ru(a, b)), o[2] = f(__fadd_rz(a, b)), o[3] = f(__fmul_rd(a, b)), o[4] = f(__fmul_ru(a, b)), o[5] = f(__fmul_rz(a, b));
  o[6] = f(__fdiv_rd(a, b)), o[7] = f(__fdiv_ru(a, b)), o[8] = f(__fsqrt_rd(fabsf(a))), o[9] = f(__fsqrt_ru(fabsf(a)));
  o[10] = d(__dadd_rd(a, b * 1e-12)), o[11] = d(__dmul_ru(a, b * 1.1)), o[12] = d(__ddiv_rz(a, b)), o[13] = f(__double2float_ru(a / 3.0));
  o[14] = f(__fmaf_rd(a, b, a)), o[15] = f(__fmaf_ru(a, b, b));
}

template <typename F>
auto in_mode(int mode, F f) {
  std::fesetround(mode);
  volatile auto r = f();  // volatile: computed before the mode goes back
  std::fesetround(FE_TONEAREST);
  return decltype(f())(r);
}
uint64_t bits(float f) { uint32_t b; std::memcpy(&b, &f, 4); return b; }
uint64_t bits(double f) { uint64_t b; std::memcpy(&b, &f, 8); return b; }
__attribute__((noinline)) void modes_reference(uint64_t* o, volatile float& a, volatile float& b) {
  const int down = FE_DOWNWARD, up = FE_UPWARD, zero = FE_TOWARDZERO;
  volatile double tiny = b * 1e-12, bigger = b * 1.1;
  volatile double a64 = a, b64 = b;
  o[0] = bits(in_mode(down, [&] { return a + b; })), o[1] = bits(in_mode(up, [&] { return a + b; })), o[2] = bits(in_mode(zero, [&] { return a + b; }));
  o[3] = bits(in_mode(down, [&] { return a * b; })), o[4] = bits(in_mode(up, [&] { return a * b; })), o[5] = bits(in_mode(zero, [&] { return a * b; }));
  o[6] = bits(in_mode(down, [&] { return a / b; })), o[7] = bits(in_mode(up, [&] { return a / b; }));
  o[8] = bits(in_mode(down, [&] { return std::sqrt(std::fabs(float(a))); })), o[9] = bits(in_mode(up, [&] { return std::sqrt(std::fabs(float(a))); }));
  o[10] = bits(in_mode(down, [&] { return a64 + tiny; })), o[11] = bits(in_mode(up, [&] { return a64 * bigger; })), o[12] = bits(in_mode(zero, [&] { return a64 / b64; }));
  volatile double third = a64 / 3.0;
  o[13] = bits(in_mode(up, [&] { return float(third); }));
  // The exact a * b + c as an unevaluated sum: the product of two floats is a double; only the sum, in long double,
  // needs the mode.
  const auto fused = [&](int mode, float c) {
    volatile double product = a64 * b64;
    // 64 digits: exact unless the exponents lie far apart.
    volatile long double sum = static_cast<long double>(product) + c;
    volatile long double part = sum - product;
    volatile long double rest = (product - (sum - part)) + (c - part);  // what the sum lost
    if (sum == 0 && rest == 0) return mode == down ? -0.0f : 0.0f;
    float r = in_mode(mode, [&] { return float(static_cast<long double>(sum)); });
    if (rest != 0 && static_cast<long double>(r) == sum) r = mode == down ? (rest < 0 ? std::nextafter(r, -INFINITY) : r) : (rest > 0 ? std::nextafter(r, INFINITY) : r);
    return r;
  };
  o[14] = bits(fused(down, a)), o[15] = bits(fused(up, b));
}

__global__ void to_integer(uint64_t* o, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float f = in[i];
  o += i * 8;
  o[0] = uint32_t(__float2int_rn(f)), o[1] = uint32_t(__float2int_rd(f)), o[2] = __float2uint_ru(f), o[3] = __float2uint_rz(f);
  o[4] = uint64_t(__float2ll_rn(f)), o[5] = __float2ull_rd(f), o[6] = uint32_t(__double2int_ru(f * 1.5)), o[7] = __double2uint_rn(f);
}
double rounded(double v, char mode) { return mode == 'n' ? std::nearbyint(v) : mode == 'd' ? std::floor(v) : mode == 'u' ? std::ceil(v) : std::trunc(v); }
template <typename T>
uint64_t saturated(double v, char mode) {
  if (std::isnan(v)) return sizeof(T) == 8 ? uint64_t(1) << 63 : std::is_signed<T>::value ? 0 : 0;
  const double r = rounded(v, mode);
  if (r <= double(std::numeric_limits<T>::min())) return std::make_unsigned_t<T>(std::numeric_limits<T>::min());
  if (r >= double(std::numeric_limits<T>::max())) return std::make_unsigned_t<T>(std::numeric_limits<T>::max());
  return std::make_unsigned_t<T>(T(r));
}

int main() {
  std::vector<float> in;
  for (uint32_t i = 0; i < 12000; ++i) {
    const uint32_t word = (mix(i) & 0x807FFFFF) | ((90 + mix(i + 9) % 75) << 23);
    float f;
    std::memcpy(&f, &word, 4);
    in.push_back(f);
  }
  for (float f : {1.f, -1.f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 3e9f, -3e9f, 2147483648.f, 4294967296.f, 1e19f, -1e19f, 1e-40f, -1e-42f, 1e30f, 1e38f, 3e38f, 1e-38f, 8388609.f, 16777217.f}) in.push_back(f);
  in.push_back(2.f), in.push_back(3.f);
  const int n = int(in.size()) - 2, blocks = (n + 127) / 128;
  Device<float> from(in), f_out(n * kFloatOps);
  Device<double> d_out(n * kDoubleOps);
  Device<uint64_t> m_out(n * kModes), i_out(n * 8);
  floats<<<blocks, 128>>>(f_out, from, n);
  doubles<<<blocks, 128>>>(d_out, from, n);
  modes<<<blocks, 128>>>(m_out, from, n);
  to_integer<<<blocks, 128>>>(i_out, from, n);
  MUST_RUN();
  std::vector<float> want_f(n * kFloatOps);
  std::vector<double> want_d(n * kDoubleOps);
  std::vector<uint64_t> want_m(n * kModes), want_i(n * 8);
  for (int i = 0; i < n; ++i) {
    volatile float a = in[i], b = in[i + 1];
    floats_reference(&want_f[i * kFloatOps], in[i], in[i + 1], in[i + 2]);
    doubles_reference(&want_d[i * kDoubleOps], in[i], in[i + 1], in[i + 2]);
    modes_reference(&want_m[i * kModes], a, b);
    const float f = in[i];
    uint64_t* o = &want_i[i * 8];
    o[0] = saturated<int>(f, 'n'), o[1] = saturated<int>(f, 'd'), o[2] = saturated<unsigned>(f, 'u'), o[3] = saturated<unsigned>(f, 'z');
    o[4] = saturated<long long>(f, 'n'), o[5] = saturated<unsigned long long>(f, 'd'), o[6] = saturated<int>(f * 1.5, 'u'), o[7] = saturated<unsigned>(f, 'n');
  }
  expect_equal("float", f_out.copy(), want_f);
  expect_equal("double", d_out.copy(), want_d);
  expect_equal("rounding modes", m_out.copy(), want_m);
  expect_equal("to integers", i_out.copy(), want_i);
  return finish();
}
