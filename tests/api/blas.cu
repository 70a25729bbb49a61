// SPDX-License-Identifier: Apache-2.0
// flags: -lcublas
// needs: cublas_v2.h
// ours only: what is compared are whole numbers, which every order of adding gives exactly
// cuBLAS: products of all types, by strides, by pointers; vectors; triangles; both kinds of scalars; a graph.
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <complex>
#include <cstring>
#include <vector>

#include "api.h"

namespace {
bool good = true;
cublasHandle_t h;

void expect(bool right, const char* what) {
  if (right) return;
  std::printf("WRONG: %s\n", what);
  good = false;
}
void done(cublasStatus_t s, const char* what) {
  if (s != CUBLAS_STATUS_SUCCESS) std::printf("%s: %s\n", what, cublasGetStatusName(s));
  expect(s == CUBLAS_STATUS_SUCCESS, what);
}
template <class T>
T* managed(size_t n) {
  T* p;
  MUST(cudaMallocManaged(&p, n * sizeof(T)));
  return p;
}
template <class T>
T of(int x) {
  if constexpr (std::is_same_v<T, __half>) return __float2half(static_cast<float>(x));
  if constexpr (!std::is_same_v<T, __half>) return static_cast<T>(x);
}
template <class T>
double from(T x) {
  if constexpr (std::is_same_v<T, __half>) return __half2float(x);
  if constexpr (!std::is_same_v<T, __half>) return static_cast<double>(x);
}
int entry(int i) { return i * 7 % 11 - 5; }

// c = 2 op(a) op(b) + 3 c with m, n, k = 5, 4, 6 and rows that lie apart.
template <class In, class Out, class Call>
void products(const char* what, Call call) {
  constexpr int m = 5, n = 4, k = 6, ld = 8;
  In *a = managed<In>(ld * ld), *b = managed<In>(ld * ld);
  Out* c = managed<Out>(ld * ld);
  for (int ta = 0; ta < 2; ++ta)
    for (int tb = 0; tb < 2; ++tb) {
      for (int i = 0; i < ld * ld; ++i) a[i] = of<In>(entry(i)), b[i] = of<In>(entry(i + 3)), c[i] = of<Out>(entry(i + 5));
      done(call(ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, a, b, c, ld), what);
      MUST(cudaDeviceSynchronize());
      bool right = true;
      for (int j = 0; j < ld; ++j)
        for (int i = 0; i < ld; ++i) {
          double want = entry(j * ld + i + 5);
          if (i < m && j < n) {
            want *= 3;
            for (int l = 0; l < k; ++l) want += 2.0 * entry(ta ? i * ld + l : l * ld + i) * entry((tb ? l * ld + j : j * ld + l) + 3);
          }
          right = right && from(c[j * ld + i]) == want;
        }
      expect(right, what);
    }
}

template <class In, class Out, class S>
auto with_types(cudaDataType in, cudaDataType out, cublasComputeType_t compute) {
  return [=](cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, In* a, In* b, Out* c, int ld) {
    const S alpha = of<S>(2), beta = of<S>(3);
    return cublasGemmEx(h, ta, tb, m, n, k, &alpha, a, in, ld, b, in, ld, &beta, c, out, ld, compute, CUBLAS_GEMM_DEFAULT);
  };
}

void complex_product() {
  using C = std::complex<double>;
  auto* p = managed<C>(12);
  for (int i = 0; i < 8; ++i) p[i] = C(entry(i), entry(i + 4));
  const cuDoubleComplex one{1, 0}, zero{0, 0};
  auto* z = reinterpret_cast<cuDoubleComplex*>(p);
  done(cublasZgemm(h, CUBLAS_OP_C, CUBLAS_OP_N, 2, 2, 2, &one, z, 2, z + 4, 2, &zero, z + 8, 2), "zgemm");
  MUST(cudaDeviceSynchronize());
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 2; ++i)
      expect(p[8 + j * 2 + i] == std::conj(p[i * 2]) * p[4 + j * 2] + std::conj(p[i * 2 + 1]) * p[5 + j * 2], "zgemm");
}

// [1 2; 3 4] by rows is [1 3; 2 4] by columns; times itself: [7 10; 15 22].
void batches() {
  float* p = managed<float>(24);
  for (int i = 0; i < 3; ++i)
    for (int e = 0; e < 4; ++e) p[i * 4 + e] = static_cast<float>((e + 1) * (i + 1));
  const float one = 1, zero = 0;
  done(cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, p, 2, 4, p, 2, 4, &zero, p + 12, 2, 4, 3), "strided");
  MUST(cudaDeviceSynchronize());
  const float want[] = {7, 10, 15, 22};
  for (int i = 0; i < 12; ++i) expect(p[12 + i] == want[i % 4] * static_cast<float>((i / 4 + 1) * (i / 4 + 1)), "strided");
  auto** pointers = managed<float*>(6);
  for (int i = 0; i < 3; ++i) pointers[i] = p + i * 4, pointers[3 + i] = p + 12 + i * 4;
  std::memset(p + 12, 0, 48);
  done(cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, pointers, 2, pointers, 2, &zero, pointers + 3, 2, 3), "batched");
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < 12; ++i) expect(p[12 + i] == want[i % 4] * static_cast<float>((i / 4 + 1) * (i / 4 + 1)), "batched");
}

void vectors() {
  double *x = managed<double>(8), *y = managed<double>(8), *r = managed<double>(2);
  for (int i = 0; i < 8; ++i) x[i] = i - 5, y[i] = 1;
  double dot = 0, norm = 0, sum = 0;
  int largest = 0, smallest = 0;
  done(cublasDdot(h, 4, x, 2, y, 1, &dot), "dot");
  expect(dot == -5 - 3 - 1 + 1, "dot");
  done(cublasIdamax(h, 8, x, 1, &largest), "amax");
  done(cublasIdamin(h, 8, x, 1, &smallest), "amin");
  expect(largest == 1 && smallest == 6, "amax, amin");
  done(cublasDasum(h, 8, x, 1, &sum), "asum");
  expect(sum == 18, "asum");
  done(cublasDnrm2(h, 2, x + 1, 1, &norm), "nrm2");
  expect(norm == 5, "nrm2");
  r[1] = 3;
  done(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE), "pointer mode");
  done(cublasDdot(h, 8, x, 1, y, 1, r), "dot on the device");
  done(cublasDaxpy(h, 8, r + 1, x, 1, y, 1), "axpy");
  done(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST), "pointer mode");
  const double two = 2;
  done(cublasDscal(h, 8, &two, x, 1), "scal");
  MUST(cudaDeviceSynchronize());
  expect(r[0] == -12 && y[0] == -14 && y[7] == 7 && x[0] == -10 && x[7] == 4, "dot, axpy, scal");
}

// More of them than floats can be added one by one.
void many() {
  const int n = 1 << 24;
  float* x = managed<float>(n);
  for (int i = 0; i < n; ++i) x[i] = 3;
  float norm = 0, sum = 0, dot = 0;
  done(cublasSnrm2(h, n, x, 1, &norm), "nrm2");
  done(cublasSasum(h, n, x, 1, &sum), "asum");
  done(cublasSdot(h, n, x, 1, x, 1, &dot), "dot");
  expect(norm == 3 * 4096 && sum == 3.0f * n && dot == 9.0f * n, "many");
  const cuComplex* z = reinterpret_cast<const cuComplex*>(x);
  cuComplex both, conjugate;
  done(cublasScnrm2(h, 8, z, 2, &norm), "complex nrm2");
  done(cublasCdotu(h, 4, z, 1, z, -2, &both), "dotu");
  done(cublasCdotc(h, 4, z, 1, z, 2, &conjugate), "dotc");
  expect(norm == 12 && both.x == 0 && both.y == 72 && conjugate.x == 72 && conjugate.y == 0, "complex sums");
}

void with_types_of_arguments() {
  __half *x = managed<__half>(8), *y = managed<__half>(8);
  for (int i = 0; i < 8; ++i) x[i] = of<__half>(i - 5), y[i] = of<__half>(1);
  float dot = 0, two = 2;
  __half norm;
  done(cublasDotEx(h, 4, x, CUDA_R_16F, 2, y, CUDA_R_16F, -1, &dot, CUDA_R_32F, CUDA_R_32F), "DotEx");
  done(cublasNrm2Ex(h, 2, x + 1, CUDA_R_16F, 1, &norm, CUDA_R_16F, CUDA_R_32F), "Nrm2Ex");
  expect(dot == -8 && from(norm) == 5, "DotEx, Nrm2Ex");
  done(cublasAxpyEx(h, 8, &two, CUDA_R_32F, x, CUDA_R_16F, 1, y, CUDA_R_16F, 1, CUDA_R_32F), "AxpyEx");
  done(cublasScalEx(h, 4, &two, CUDA_R_32F, x, CUDA_R_16F, 2, CUDA_R_32F), "ScalEx");
  MUST(cudaDeviceSynchronize());
  expect(from(y[0]) == -9 && from(y[7]) == 5 && from(x[0]) == -10 && from(x[1]) == -4, "AxpyEx, ScalEx");
  expect(cublasDotEx(h, 4, x, CUDA_C_32F, 2, y, CUDA_R_16F, 1, &dot, CUDA_R_32F, CUDA_R_32F) == CUBLAS_STATUS_NOT_SUPPORTED, "types that do not go together");
}

void matrices() {
  // a = [2 0; 3 4] by columns, x = (1, 2)
  float* p = managed<float>(16);
  const float values[] = {2, 3, 0, 4, 1, 2, 0, 0, 2, 11, 4, 6};
  std::memcpy(p, values, sizeof values);
  float *a = p, *x = p + 4, *y = p + 6, *b = p + 8, *c = p + 12;
  const float one = 1, zero = 0;
  done(cublasSgemv(h, CUBLAS_OP_N, 2, 2, &one, a, 2, x, 1, &zero, y, 1), "gemv");
  done(cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 2, 2, &one, a, 2, b, 2), "trsm");
  done(cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, &one, a, 2, &one, a, 2, c, 2), "geam");
  MUST(cudaDeviceSynchronize());
  expect(y[0] == 2 && y[1] == 11, "gemv");
  expect(b[0] == 1 && b[1] == 2 && b[2] == 2 && b[3] == 0, "trsm");
  expect(c[0] == 4 && c[1] == 3 && c[2] == 3 && c[3] == 8, "geam");
  done(cublasSger(h, 2, 2, &one, x, 1, x, 1, a, 2), "ger");
  MUST(cudaDeviceSynchronize());
  expect(a[0] == 3 && a[1] == 5 && a[2] == 2 && a[3] == 8, "ger");
}

void graph() {
  float* x = managed<float>(4);
  for (int i = 0; i < 4; ++i) x[i] = 1;
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  done(cublasSetStream(h, s), "stream");
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  {
    const float three = 3;
    done(cublasSscal(h, 4, &three, x, 1), "captured");
  }
  cudaGraph_t g;
  cudaGraphExec_t e;
  MUST(cudaStreamEndCapture(s, &g));
  expect(x[0] == 1, "captured, not run");
  MUST(cudaGraphInstantiate(&e, g, 0));
  MUST(cudaGraphDestroy(g));
  for (int i = 0; i < 3; ++i) MUST(cudaGraphLaunch(e, s));
  MUST(cudaStreamSynchronize(s));
  expect(x[0] == 27 && x[3] == 27, "replayed");
}
}  // namespace

int main() {
  done(cublasCreate(&h), "create");
  products<float, float>("float", with_types<float, float, float>(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F));
  products<double, double>("double", with_types<double, double, double>(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F));
  products<__half, __half>("half", with_types<__half, __half, __half>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F));
  products<__half, float>("half, float", with_types<__half, float, float>(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F));
  products<signed char, int>("bytes", with_types<signed char, int, int>(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I));
  products<float, float>("sgemm", [](cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, float* a, float* b, float* c, int ld) {
    const float alpha = 2, beta = 3;
    return cublasSgemm(h, ta, tb, m, n, k, &alpha, a, ld, b, ld, &beta, c, ld);
  });
  complex_product();
  batches();
  vectors();
  many();
  with_types_of_arguments();
  matrices();
  float x = 0;
  expect(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &x, &x, 1, &x, 2, &x, &x, 2) == CUBLAS_STATUS_INVALID_VALUE, "rows too close");
  expect(cublasSscal(nullptr, 1, &x, &x, 1) == CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  graph();
  done(cublasDestroy(h), "destroy");
  std::printf("%s\n", good ? "right" : "wrong");
  return good ? 0 : 1;
}
