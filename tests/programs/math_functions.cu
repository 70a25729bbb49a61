// SPDX-License-Identifier: Apache-2.0
// The math library within its documented error, measured in units of the last place against doubles (floats) or long
// doubles.
#include <algorithm>
#include <cmath>

#include "program.h"
using namespace program;

#define FLOAT_CASES(X)                                                                                                   \
  X(sinf, -40, 40, 2) X(cosf, -40, 40, 2) X(tanf, -1.5, 1.5, 4) X(expf, -80, 80, 2) X(exp2f, -100, 100, 2) X(exp10f, -30, 30, 2) \
  X(logf, 1e-6, 1e6, 1) X(log2f, 1e-6, 1e6, 1) X(log10f, 1e-6, 1e6, 2) X(log1pf, -0.9, 50, 1) X(expm1f, -5, 20, 1)           \
  X(sinhf, -20, 20, 3) X(coshf, -20, 20, 2) X(tanhf, -5, 5, 2) X(asinf, -1, 1, 2) X(acosf, -1, 1, 2) X(atanf, -50, 50, 2)    \
  X(asinhf, -50, 50, 3) X(acoshf, 1, 50, 4) X(atanhf, -0.99, 0.99, 3) X(cbrtf, -100, 100, 1) X(rsqrtf, 1e-6, 1e6, 2)          \
  X(erff, -3, 3, 2) X(erfcf, -3, 6, 4) X(tgammaf, 0.5, 20, 5) X(lgammaf, 3, 100, 6) X(sinpif, -10, 10, 1) X(cospif, -10, 10, 1) \
  X(j0f, 0, 8, 9) X(normcdff, -3, 3, 5)

#define DOUBLE_CASES(X)                                                                                                       \
  X(sin, -1000, 1000, 2) X(cos, -1000, 1000, 2) X(tan, -1.5, 1.5, 2) X(exp, -700, 700, 1) X(exp2, -900, 900, 1) X(log, 1e-9, 1e9, 1) \
  X(log2, 1e-9, 1e9, 1) X(log10, 1e-9, 1e9, 1) X(log1p, -0.9, 50, 1) X(expm1, -5, 20, 1) X(sinh, -20, 20, 2) X(cosh, -20, 20, 1) \
  X(tanh, -5, 5, 1) X(asin, -1, 1, 2) X(acos, -1, 1, 2) X(atan, -50, 50, 2) X(cbrt, -100, 100, 1) X(rsqrt, 1e-6, 1e6, 1)          \
  X(erf, -3, 3, 2) X(erfc, -3, 6, 5) X(tgamma, 0.5, 20, 10) X(lgamma, 3, 100, 4)

#define KERNELS(f, low, high, ulp)                                                   \
  template <typename T>                                                              \
  __global__ void run_##f(T* out, const T* in, int n) {                              \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                             \
    if (i < n) out[i] = f(in[i]);                                                    \
  }
FLOAT_CASES(KERNELS)
DOUBLE_CASES(KERNELS)

namespace ref {
using L = long double;
const L pi = 3.14159265358979323846264338327950288L;
#define SAME(name, host) L name(L x) { return host(x); }
SAME(sinf, std::sin) SAME(cosf, std::cos) SAME(tanf, std::tan) SAME(expf, std::exp) SAME(exp2f, std::exp2) SAME(logf, std::log)
SAME(log2f, std::log2) SAME(log10f, std::log10) SAME(log1pf, std::log1p) SAME(expm1f, std::expm1) SAME(sinhf, std::sinh) SAME(coshf, std::cosh)
SAME(tanhf, std::tanh) SAME(asinf, std::asin) SAME(acosf, std::acos) SAME(atanf, std::atan) SAME(asinhf, std::asinh) SAME(acoshf, std::acosh)
SAME(atanhf, std::atanh) SAME(cbrtf, std::cbrt) SAME(erff, std::erf) SAME(erfcf, std::erfc) SAME(tgammaf, std::tgamma) SAME(lgammaf, std::lgamma)
SAME(sin, std::sin) SAME(cos, std::cos) SAME(tan, std::tan) SAME(exp, std::exp) SAME(exp2, std::exp2) SAME(log, std::log)
SAME(log2, std::log2) SAME(log10, std::log10) SAME(log1p, std::log1p) SAME(expm1, std::expm1) SAME(sinh, std::sinh) SAME(cosh, std::cosh)
SAME(tanh, std::tanh) SAME(asin, std::asin) SAME(acos, std::acos) SAME(atan, std::atan) SAME(cbrt, std::cbrt)
SAME(erf, std::erf) SAME(erfc, std::erfc) SAME(tgamma, std::tgamma) SAME(lgamma, std::lgamma)
L exp10f(L x) { return std::pow(10.0L, x); }
L rsqrtf(L x) { return 1 / std::sqrt(x); }
L rsqrt(L x) { return 1 / std::sqrt(x); }
L sinpif(L x) { return std::sin(pi * std::remainder(x, 2.0L)); }
L cospif(L x) { return std::cos(pi * std::remainder(x, 2.0L)); }
L j0f(L x) { return std::cyl_bessel_j(0.0L, x); }
L normcdff(L x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
}  // namespace ref

template <typename T>
void check(const char* name, void (*kernel)(T*, const T*, int), long double (*reference)(long double), double low, double high, double allowed) {
  const int n = 4000;
  std::vector<T> in(n);
  for (int i = 0; i < n; ++i) in[i] = T(low + (high - low) * (mix(i) * 0x1p-32 + mix(i + 1000000) * 0x1p-64));
  in[0] = T(low), in[1] = T(high), in[2] = T((low + high) / 2);
  Device<T> from(in), out(n);
  kernel<<<(n + 127) / 128, 128>>>(static_cast<T*>(out), static_cast<const T*>(static_cast<T*>(from)), n);
  MUST_RUN();
  const std::vector<T> got = out.copy();
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    const long double want = reference(in[i]);
    const T near = T(want);
    const long double unit = std::isfinite(near) ? std::fabs(static_cast<long double>(std::nextafter(near, T(INFINITY))) - near) : 1;
    // Near a zero of j0 and the like the bound is absolute.
    const double error = std::isnan(got[i]) != std::isnan(near) ? 1e9 : double(std::fabs(got[i] - want) / std::max(unit, static_cast<long double>(sizeof(T) == 4 ? 1e-7L * (name[0] == 'j') : 0)));
    if (!(error <= worst)) worst = error;
  }
  if (worst > allowed + 0.501) std::printf("  %s: %.2f units\n", name, worst);
  expect(name, worst <= allowed + 0.501);
}

__global__ void two_arguments(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s, c;
  sincosf(in[i], &s, &c);
  out[6 * i] = powf(fabsf(in[i]), in[i + 1]), out[6 * i + 1] = atan2f(in[i], in[i + 1]), out[6 * i + 2] = hypotf(in[i], in[i + 1]);
  out[6 * i + 3] = s, out[6 * i + 4] = c, out[6 * i + 5] = remainderf(in[i], in[i + 1]);
}

int main() {
#define RUN_FLOAT(f, low, high, ulp) check<float>(#f, run_##f<float>, ref::f, low, high, ulp);
#define RUN_DOUBLE(f, low, high, ulp) check<double>(#f, run_##f<double>, ref::f, low, high, ulp);
  FLOAT_CASES(RUN_FLOAT)
  DOUBLE_CASES(RUN_DOUBLE)
  const int n = 3000;
  std::vector<float> in(n + 1);
  for (int i = 0; i <= n; ++i) in[i] = float(mix(i)) / 4294967296.0f * 20 - 10;
  Device<float> from(in), out(6 * n);
  two_arguments<<<(n + 127) / 128, 128>>>(out, from, n);
  MUST_RUN();
  const std::vector<float> got = out.copy();
  bool close = true, exact = true;
  for (int i = 0; i < n; ++i) {
    const double a = in[i], b = in[i + 1], want[5] = {std::pow(std::fabs(a), b), std::atan2(a, b), std::hypot(a, b), std::sin(a), std::cos(a)};
    for (int k = 0; k < 5; ++k) close &= std::fabs(got[6 * i + k] - want[k]) <= 6e-7 * std::fabs(want[k]) + 1e-7;
    exact &= got[6 * i + 5] == std::remainder(in[i], in[i + 1]);
  }
  expect("pow, atan2, hypot, sincos", close);
  expect("remainder", exact);
  return finish();
}
