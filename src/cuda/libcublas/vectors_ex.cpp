// SPDX-License-Identifier: Apache-2.0
// Vectors whose types are arguments: cublasDotEx, Nrm2Ex, AxpyEx, ScalEx of real numbers of 16 to 64 bits.
#include <cmath>

#include "cuda/api.h"
#include "cuda/libcublas/products.h"

using us::cublas::AnyScalar;
using us::cublas::bytes_of;
using us::cublas::fit;
using us::cublas::number;
using us::cublas::put;
using us::cublas::submit;
using us::cublas::submit_result;
using us::cublas::Touched;
using i64 = int64_t;

namespace {

constexpr cublasStatus_t kSuccess = CUBLAS_STATUS_SUCCESS;

bool real(cudaDataType t) { return t == CUDA_R_16F || t == CUDA_R_16BF || t == CUDA_R_32F || t == CUDA_R_64F; }

struct Vector {
  const void* p;
  cudaDataType type;
  i64 step;
  // Of the k-th of n; with a negative step the last one lies first.
  i64 place(i64 k, i64 n) const { return step < 0 ? (k - n + 1) * step : k * step; }
  double get(i64 k, i64 n) const { return number(p, type, place(k, n)); }
  void set(i64 k, i64 n, double x) const { put(const_cast<void*>(p), type, place(k, n), x); }
};

void touch(Touched& t, const Vector& v, i64 n, bool writes) { t.vector(v.p, n, v.step, bytes_of(v.type), writes); }

template <class... Types>
cublasStatus_t check(cublasHandle_t h, i64 n, Types... types) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  return fit(n) && (real(types) && ...) ? kSuccess : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t dot(cublasHandle_t h, i64 n, Vector x, Vector y, void* result, cudaDataType of, cudaDataType in) {
  if (const cublasStatus_t r = check(h, n, x.type, y.type, of, in); r != kSuccess) return r;
  if (!result || (n > 0 && (!x.p || !y.p))) return CUBLAS_STATUS_INVALID_VALUE;
  Touched t;
  touch(t, x, n, false), touch(t, y, n, false);
  if (h->pointers == CUBLAS_POINTER_MODE_DEVICE) t.vector(result, 1, 1, bytes_of(of), true);
  return submit_result(h, t, [=] {
    double sum = 0;
    for (i64 k = 0; k < n; ++k) sum += x.get(k, n) * y.get(k, n);
    put(result, of, 0, sum);
  });
}

cublasStatus_t norm(cublasHandle_t h, i64 n, Vector x, void* result, cudaDataType of, cudaDataType in) {
  if (const cublasStatus_t r = check(h, n, x.type, of, in); r != kSuccess) return r;
  if (!result || (n > 0 && !x.p)) return CUBLAS_STATUS_INVALID_VALUE;
  const i64 many = x.step > 0 ? n : 0;
  Touched t;
  touch(t, x, many, false);
  if (h->pointers == CUBLAS_POINTER_MODE_DEVICE) t.vector(result, 1, 1, bytes_of(of), true);
  return submit_result(h, t, [=] {
    double all = 0;
    for (i64 k = 0; k < many; ++k) all = std::hypot(all, x.get(k, many));
    put(result, of, 0, all);
  });
}

cublasStatus_t axpy(cublasHandle_t h, i64 n, const void* alpha, cudaDataType type, Vector x, Vector y,
                    cudaDataType in) {
  if (const cublasStatus_t r = check(h, n, type, x.type, y.type, in); r != kSuccess) return r;
  if (n <= 0) return kSuccess;
  if (!alpha || !x.p || !y.p) return CUBLAS_STATUS_INVALID_VALUE;
  Touched t;
  touch(t, x, n, false), touch(t, y, n, true);
  return submit(h, t, [=, a = AnyScalar(h, alpha, type)] {
    const double by = number(a.get(), type, 0);
    for (i64 k = 0; k < n; ++k) y.set(k, n, std::fma(by, x.get(k, n), y.get(k, n)));
  });
}

cublasStatus_t scal(cublasHandle_t h, i64 n, const void* alpha, cudaDataType type, Vector x, cudaDataType in) {
  if (const cublasStatus_t r = check(h, n, type, x.type, in); r != kSuccess) return r;
  if (n <= 0 || x.step <= 0) return kSuccess;
  if (!alpha || !x.p) return CUBLAS_STATUS_INVALID_VALUE;
  Touched t;
  touch(t, x, n, true);
  return submit(h, t, [=, a = AnyScalar(h, alpha, type)] {
    const double by = number(a.get(), type, 0);
    for (i64 k = 0; k < n; ++k) x.set(k, n, by * x.get(k, n));
  });
}

}  // namespace

#define US_EX(I, V)                                                                                                 \
  US_API cublasStatus_t cublasDotEx##V(cublasHandle_t h, I n, const void* x, cudaDataType tx, I ix, const void* y,  \
                                       cudaDataType ty, I iy, void* r, cudaDataType of, cudaDataType in) {          \
    return dot(h, n, {x, tx, ix}, {y, ty, iy}, r, of, in);                                                          \
  }                                                                                                                 \
  US_API cublasStatus_t cublasDotcEx##V(cublasHandle_t h, I n, const void* x, cudaDataType tx, I ix, const void* y, \
                                        cudaDataType ty, I iy, void* r, cudaDataType of, cudaDataType in) {         \
    return dot(h, n, {x, tx, ix}, {y, ty, iy}, r, of, in);                                                          \
  }                                                                                                                 \
  US_API cublasStatus_t cublasNrm2Ex##V(cublasHandle_t h, I n, const void* x, cudaDataType tx, I ix, void* r,       \
                                        cudaDataType of, cudaDataType in) {                                         \
    return norm(h, n, {x, tx, ix}, r, of, in);                                                                      \
  }                                                                                                                 \
  US_API cublasStatus_t cublasAxpyEx##V(cublasHandle_t h, I n, const void* a, cudaDataType ta, const void* x,       \
                                        cudaDataType tx, I ix, void* y, cudaDataType ty, I iy, cudaDataType in) {   \
    return axpy(h, n, a, ta, {x, tx, ix}, {y, ty, iy}, in);                                                         \
  }                                                                                                                 \
  US_API cublasStatus_t cublasScalEx##V(cublasHandle_t h, I n, const void* a, cudaDataType ta, void* x,             \
                                        cudaDataType tx, I ix, cudaDataType in) {                                   \
    return scal(h, n, a, ta, {x, tx, ix}, in);                                                                      \
  }
US_EX(int, )
US_EX(i64, _64)
