// SPDX-License-Identifier: Apache-2.0
// flags: -lcufft
// Plans of numbers in 16 bits (half and bfloat16), against sums in double precision; which plans there are, and what
// executes them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cufftXt.h>

#include <cmath>
#include <complex>
#include <vector>

#include "api.h"

namespace {
bool good = true;
void expect(bool right, const char* what) {
  if (right) return;
  std::printf("WRONG: %s\n", what);
  good = false;
}

using Complex = std::complex<double>;
// X[k] = sum of x[j] exp(-+ 2 pi i j k / n)
std::vector<Complex> transform(const std::vector<Complex>& x, int direction) {
  const size_t n = x.size();
  std::vector<Complex> r(n);
  for (size_t k = 0; k < n; ++k)
    for (size_t j = 0; j < n; ++j) r[k] += x[j] * std::polar(1.0, direction * 2 * M_PI * static_cast<double>(j * k % n) / static_cast<double>(n));
  return r;
}

template <class T>
struct Kind;
template <>
struct Kind<__half> {
  static constexpr cudaDataType real = CUDA_R_16F, complex = CUDA_C_16F;
  static constexpr double error = 1.0 / 1024;  // of the largest result
};
template <>
struct Kind<__nv_bfloat16> {
  static constexpr cudaDataType real = CUDA_R_16BF, complex = CUDA_C_16BF;
  static constexpr double error = 1.0 / 128;
};
__half number(float v, __half) { return __float2half(v); }
__nv_bfloat16 number(float v, __nv_bfloat16) { return __float2bfloat16(v); }
float value(__half v) { return __half2float(v); }
float value(__nv_bfloat16 v) { return __bfloat162float(v); }

constexpr int kSize = 32, kBatch = 3, kGap = 5;

// Complex numbers, every second one of a row, rows with a gap; and what lies between stays as it is.
template <class T>
void complex_numbers(const char* what, bool in_place) {
  constexpr int kStride = 2, kDist = kStride * kSize + kGap;
  T *in, *out;
  MUST(cudaMallocHost(&in, sizeof(T) * 2 * kDist * kBatch));
  MUST(cudaMallocHost(&out, sizeof(T) * 2 * kDist * kBatch));
  if (in_place) out = in;
  for (int i = 0; i < 2 * kDist * kBatch; ++i) {
    if (!in_place) out[i] = number(77, T{});
    in[i] = number(static_cast<float>(i * 37 % 101) / 101 - 0.4f, T{});
  }
  std::vector<T> before(in, in + 2 * kDist * kBatch);
  cufftHandle plan;
  size_t bytes = 0;
  long long n[1] = {kSize}, embed[1] = {kSize};
  using K = Kind<T>;
  expect(cufftCreate(&plan) == CUFFT_SUCCESS, what);
  expect(cufftXtMakePlanMany(plan, 1, n, embed, kStride, kDist, K::complex, embed, kStride, kDist, K::complex, kBatch, &bytes, K::complex) == CUFFT_SUCCESS, what);
  expect(cufftXtExec(plan, in, out, CUFFT_INVERSE) == CUFFT_SUCCESS, what);
  MUST(cudaDeviceSynchronize());
  for (int b = 0; b < kBatch; ++b) {
    std::vector<Complex> x;
    double most = 0;
    for (int j = 0; j < kSize; ++j) x.emplace_back(value(before[static_cast<size_t>(2 * (b * kDist + j * kStride))]), value(before[static_cast<size_t>(2 * (b * kDist + j * kStride) + 1)]));
    const auto right = transform(x, CUFFT_INVERSE);
    for (const Complex& c : right) most = std::max(most, std::abs(c));
    for (int k = 0; k < kSize; ++k) {
      const T* at = out + 2 * (b * kDist + k * kStride);
      expect(std::abs(Complex(value(at[0]), value(at[1])) - right[static_cast<size_t>(k)]) < K::error * most, what);
      expect(k + 1 == kSize || value(at[2]) == (in_place ? value(before[static_cast<size_t>(at - out + 2)]) : 77.0f), "a gap");
    }
  }
  expect(cufftDestroy(plan) == CUFFT_SUCCESS, what);
}

// Real numbers there and back, in two dimensions.
template <class T>
void real_numbers(const char* what) {
  constexpr int kRows = 4, kHalf = kSize / 2 + 1;
  T *in, *middle, *back;
  MUST(cudaMallocHost(&in, sizeof(T) * kRows * kSize));
  MUST(cudaMallocHost(&back, sizeof(T) * kRows * kSize));
  MUST(cudaMallocHost(&middle, sizeof(T) * 2 * kRows * kHalf));
  double sum = 0;
  for (int i = 0; i < kRows * kSize; ++i) {
    in[i] = number(static_cast<float>(i * 29 % 83) / 830, T{});
    sum += value(in[i]);
  }
  cufftHandle there, again;
  size_t bytes = 0;
  long long n[2] = {kRows, kSize};
  using K = Kind<T>;
  expect(cufftCreate(&there) == CUFFT_SUCCESS && cufftCreate(&again) == CUFFT_SUCCESS, what);
  expect(cufftXtMakePlanMany(there, 2, n, nullptr, 1, 0, K::real, nullptr, 1, 0, K::complex, 1, &bytes, K::complex) == CUFFT_SUCCESS, what);
  expect(cufftXtMakePlanMany(again, 2, n, nullptr, 1, 0, K::complex, nullptr, 1, 0, K::real, 1, &bytes, K::complex) == CUFFT_SUCCESS, what);
  expect(cufftXtExec(there, in, middle, CUFFT_FORWARD) == CUFFT_SUCCESS, what);
  MUST(cudaDeviceSynchronize());
  expect(std::fabs(value(middle[0]) - sum) < K::error * sum && value(middle[1]) == 0, what);
  expect(cufftXtExec(again, middle, back, CUFFT_INVERSE) == CUFFT_SUCCESS, what);  // which may overwrite its input
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < kRows * kSize; ++i) expect(std::fabs(value(back[i]) / (kRows * kSize) - value(in[i])) < 8 * K::error * 0.1, what);
}
cufftHandle make(cudaDataType in, cudaDataType out, cudaDataType arithmetic, long long size, long long in_stride, long long out_stride, const char* what) {
  cufftHandle plan;
  size_t bytes = 0;
  long long n[1] = {size};
  expect(cufftCreate(&plan) == CUFFT_SUCCESS, what);
  VALUE(cufftXtMakePlanMany(plan, 1, n, n, in_stride, 4 * size, in, n, out_stride, 4 * size, out, 1, &bytes, arithmetic));
  return plan;
}

void plans() {
  struct {
    const char* what;
    cudaDataType real, complex;
  } const kinds[] = {{"half", CUDA_R_16F, CUDA_C_16F}, {"bfloat16", CUDA_R_16BF, CUDA_C_16BF}, {"float", CUDA_R_32F, CUDA_C_32F}, {"double", CUDA_R_64F, CUDA_C_64F}};
  for (const auto& k : kinds) {
    std::printf("%s\n", k.what);
    for (const cudaDataType in : {k.real, k.complex})
      for (const cudaDataType out : {k.real, k.complex})
        for (const cudaDataType arithmetic : {k.real, k.complex}) make(in, out, arithmetic, 16, 1, 1, k.what);
    for (const auto& other : kinds)
      if (other.real != k.real) make(k.complex, k.complex, other.complex, 16, 1, 1, k.what), make(k.complex, other.complex, k.complex, 16, 1, 1, k.what);
    for (const long long size : {1, 2, 3, 12, 128}) make(k.complex, k.complex, k.complex, size, 1, 1, k.what), make(k.real, k.complex, k.complex, size, 1, 1, k.what);
    make(k.real, k.complex, k.complex, 16, 2, 1, k.what), make(k.complex, k.real, k.complex, 16, 1, 2, k.what);
  }
}

// Whatever is called, a plan does what it is for, in its direction only.
void calls() {
  __half *in, *out;
  MUST(cudaMallocHost(&in, 4096));
  MUST(cudaMallocHost(&out, 4096));
  const auto done = [&](const char* what, cufftResult r) {
    VALUE(r);
    MUST(cudaDeviceSynchronize());
    std::printf("%s: %.2f %.2f, behind it %g\n", what, __half2float(out[0]), __half2float(out[1]), __half2float(out[32]));
    for (int i = 0; i < 2048; ++i) in[i] = __float2half(static_cast<float>(i % 8) / 8), out[i] = __float2half(77);
  };
  const cufftHandle complex = make(CUDA_C_16F, CUDA_C_16F, CUDA_C_16F, 16, 1, 1, "calls"), real = make(CUDA_R_16F, CUDA_C_16F, CUDA_C_16F, 16, 1, 1, "calls"),
                    back = make(CUDA_C_16F, CUDA_R_16F, CUDA_C_16F, 16, 1, 1, "calls");
  for (int i = 0; i < 2048; ++i) in[i] = __float2half(static_cast<float>(i % 8) / 8), out[i] = __float2half(77);
  for (const cufftHandle plan : {complex, real, back}) {
    done("C2C", cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(in), reinterpret_cast<cufftComplex*>(out), CUFFT_FORWARD));
    done("Z2Z", cufftExecZ2Z(plan, reinterpret_cast<cufftDoubleComplex*>(in), reinterpret_cast<cufftDoubleComplex*>(out), CUFFT_FORWARD));
    done("R2C", cufftExecR2C(plan, reinterpret_cast<cufftReal*>(in), reinterpret_cast<cufftComplex*>(out)));
    done("C2R", cufftExecC2R(plan, reinterpret_cast<cufftComplex*>(in), reinterpret_cast<cufftReal*>(out)));
    done("Xt", cufftXtExec(plan, in, out, CUFFT_FORWARD));
  }
  // Of 32-bit numbers, too, however the plan was made.
  VALUE(cufftXtExec(make(CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, 16, 1, 1, "calls"), in, out, CUFFT_INVERSE));
  VALUE(cufftXtExec(make(CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, 16, 1, 1, "calls"), in, out, CUFFT_FORWARD));
  for (const cufftType type : {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D}) {
    cufftHandle plan;
    VALUE(cufftPlan1d(&plan, 16, type, 1));
    VALUE(cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(in), reinterpret_cast<cufftComplex*>(out), CUFFT_FORWARD));
    VALUE(cufftExecZ2Z(plan, reinterpret_cast<cufftDoubleComplex*>(in), reinterpret_cast<cufftDoubleComplex*>(out), CUFFT_INVERSE));
    VALUE(cufftExecR2C(plan, reinterpret_cast<cufftReal*>(in), reinterpret_cast<cufftComplex*>(out)));
    VALUE(cufftExecC2R(plan, reinterpret_cast<cufftComplex*>(in), reinterpret_cast<cufftReal*>(out)));
    VALUE(cufftExecD2Z(plan, reinterpret_cast<cufftDoubleReal*>(in), reinterpret_cast<cufftDoubleComplex*>(out)));
    VALUE(cufftExecZ2D(plan, reinterpret_cast<cufftDoubleComplex*>(in), reinterpret_cast<cufftDoubleReal*>(out)));
    VALUE(cufftXtExec(plan, in, out, CUFFT_FORWARD));
  }
  MUST(cudaDeviceSynchronize());
}
}  // namespace

int main() {
  complex_numbers<__half>("halves", false);
  complex_numbers<__half>("halves in place", true);
  complex_numbers<__nv_bfloat16>("bfloat16", false);
  real_numbers<__half>("real halves");
  real_numbers<__nv_bfloat16>("real bfloat16");
  plans();
  calls();
  std::puts(good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
