// SPDX-License-Identifier: Apache-2.0
// The exact bits of the math library and of the hardware's approximations, as hashes:
// the recording of the H200 judges them.
#include <cmath>

#include "program.h"
using namespace program;

#define LIBRARY(X)                                                                                                                  \
  X(sinf, -40, 40) X(cosf, -40, 40) X(tanf, -9, 9) X(expf, -80, 80) X(exp2f, -100, 100) X(exp10f, -30, 30) X(logf, 1e-6, 1e6)          \
  X(log2f, 1e-6, 1e6) X(log10f, 1e-6, 1e6) X(log1pf, -0.9, 50) X(expm1f, -5, 20) X(sinhf, -20, 20) X(coshf, -20, 20) X(tanhf, -5, 5)     \
  X(asinf, -1, 1) X(acosf, -1, 1) X(atanf, -50, 50) X(asinhf, -50, 50) X(acoshf, 1, 50) X(atanhf, -0.99, 0.99) X(cbrtf, -100, 100)       \
  X(erff, -3, 3) X(erfcf, -3, 6) X(tgammaf, 0.5, 20) X(lgammaf, 0.5, 100) X(sinpif, -10, 10) X(cospif, -10, 10) X(normcdff, -3, 3)
#define DOUBLES(X)                                                                                                                  \
  X(sin, -1000, 1000) X(cos, -1000, 1000) X(tan, -9, 9) X(exp, -700, 700) X(exp2, -900, 900) X(log, 1e-9, 1e9) X(log2, 1e-9, 1e9)       \
  X(log10, 1e-9, 1e9) X(log1p, -0.9, 50) X(expm1, -5, 20) X(sinh, -20, 20) X(cosh, -20, 20) X(tanh, -5, 5) X(asin, -1, 1) X(acos, -1, 1) \
  X(atan, -50, 50) X(cbrt, -100, 100) X(rsqrt, 1e-6, 1e6) X(erf, -3, 3) X(erfc, -3, 6) X(tgamma, 0.5, 20) X(lgamma, 0.5, 100)
#define APPROXIMATIONS(X)                                                                                                           \
  X(__sinf, -6, 6) X(__cosf, -6, 6) X(__tanf, -1.5, 1.5) X(__expf, -80, 80) X(__exp10f, -30, 30) X(__logf, 1e-6, 1e6) X(__log2f, 1e-6, 1e6) \
  X(__log10f, 1e-6, 1e6) X(rsqrtf, 1e-30, 1e30) X(__frsqrt_rn, 1e-6, 1e6) X(__saturatef, -2, 2)

#define KERNEL(f, low, high)                                         \
  template <typename T>                                              \
  __global__ void run_##f(T* out, const T* in, int n) {              \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;             \
    if (i < n) out[i] = f(in[i]);                                    \
  }
LIBRARY(KERNEL) DOUBLES(KERNEL) APPROXIMATIONS(KERNEL)

template <typename T>
__global__ void two_arguments(T* out, const T* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T a = in[i], b = in[i + 1];
  out[i] = pow(fabs(a), b), out[n + i] = atan2(a, b), out[2 * n + i] = hypot(a, b), out[3 * n + i] = fmod(a, b);
}
__global__ void fast_division(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = in[i], b = in[i + 1];
  out[i] = __fdividef(a, b), out[n + i] = __powf(fabsf(a), b), out[2 * n + i] = rsqrtf(fabsf(a)) * b;
  float r, s, t, u;
  asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(b));
  asm("sqrt.approx.f32 %0, %1;" : "=f"(s) : "f"(fabsf(a)));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(t) : "f"(a));
  asm("tanh.approx.f32 %0, %1;" : "=f"(u) : "f"(a));
  out[3 * n + i] = r, out[4 * n + i] = s, out[5 * n + i] = t, out[6 * n + i] = u;
}

template <typename T>
std::vector<T> inputs(double low, double high, int n) {
  std::vector<T> in(n);
  for (int i = 0; i < n; ++i) in[i] = T(low + (high - low) * (mix(i) * 0x1p-32));
  in[0] = 0, in[1] = T(low), in[2] = T(high), in[3] = T(1e-30), in[4] = T(INFINITY), in[5] = T(-INFINITY);
  return in;
}

template <typename T>
void record(const char* name, void (*kernel)(T*, const T*, int), double low, double high) {
  const int n = 20000;
  const std::vector<T> in = inputs<T>(low, high, n);
  Device<T> from(in), out(n);
  kernel<<<(n + 127) / 128, 128>>>(static_cast<T*>(out), static_cast<const T*>(static_cast<T*>(from)), n);
  MUST_RUN();
  show(name, out.copy());
}

int main() {
#define RUN_FLOAT(f, low, high) record<float>(#f, run_##f<float>, low, high);
#define RUN_DOUBLE(f, low, high) record<double>(#f, run_##f<double>, low, high);
  LIBRARY(RUN_FLOAT)
  DOUBLES(RUN_DOUBLE)
  APPROXIMATIONS(RUN_FLOAT)
  const int n = 20000;
  const char* names[] = {"pow", "atan2", "hypot", "fmod"};
  const char* fast_names[] = {"__fdividef", "__powf", "rsqrtf product", "rcp.approx", "sqrt.approx", "ex2.approx.ftz", "tanh.approx"};
  Device<float> in_f(inputs<float>(-12, 12, n + 1)), out_f(7 * n);
  Device<double> in_d(inputs<double>(-12, 12, n + 1)), out_d(4 * n);
  const auto part = [&](const auto& all, int k) { return std::vector(all.begin() + k * n, all.begin() + (k + 1) * n); };
  two_arguments<float><<<(n + 127) / 128, 128>>>(static_cast<float*>(out_f), static_cast<float*>(in_f), n);
  two_arguments<double><<<(n + 127) / 128, 128>>>(static_cast<double*>(out_d), static_cast<double*>(in_d), n);
  MUST_RUN();
  for (int k = 0; k < 4; ++k) show(names[k], part(out_f.copy(), k)), show(names[k], part(out_d.copy(), k));
  fast_division<<<(n + 127) / 128, 128>>>(out_f, in_f, n);
  MUST_RUN();
  for (int k = 0; k < 7; ++k) show(fast_names[k], part(out_f.copy(), k));
  return finish();
}
