// SPDX-License-Identifier: Apache-2.0
// Vectors: sums, products, copies. S, D, C, Z as everywhere in BLAS.
#include <cblas.h>

#include <cmath>
#include <utility>

#include "cuda/api.h"
#include "cuda/libcublas/handle.h"

using us::cublas::fit;
using us::cublas::Scalar;
using us::cublas::submit;
using us::cublas::submit_result;
using us::cublas::Touched;
using i64 = int64_t;

namespace {

constexpr cublasStatus_t kSuccess = CUBLAS_STATUS_SUCCESS;

void add(int n, float a, const float* x, int ix, float* y, int iy) { cblas_saxpy(n, a, x, ix, y, iy); }
void add(int n, double a, const double* x, int ix, double* y, int iy) { cblas_daxpy(n, a, x, ix, y, iy); }
void add(int n, cuComplex a, const cuComplex* x, int ix, cuComplex* y, int iy) { cblas_caxpy(n, &a, x, ix, y, iy); }
void add(int n, cuDoubleComplex a, const cuDoubleComplex* x, int ix, cuDoubleComplex* y, int iy) {
  cblas_zaxpy(n, &a, x, ix, y, iy);
}
void scale(int n, float a, float* x, int ix) { cblas_sscal(n, a, x, ix); }
void scale(int n, double a, double* x, int ix) { cblas_dscal(n, a, x, ix); }
void scale(int n, cuComplex a, cuComplex* x, int ix) { cblas_cscal(n, &a, x, ix); }
void scale(int n, cuDoubleComplex a, cuDoubleComplex* x, int ix) { cblas_zscal(n, &a, x, ix); }
void scale(int n, float a, cuComplex* x, int ix) { cblas_csscal(n, a, x, ix); }
void scale(int n, double a, cuDoubleComplex* x, int ix) { cblas_zdscal(n, a, x, ix); }
void copy(int n, const float* x, int ix, float* y, int iy) { cblas_scopy(n, x, ix, y, iy); }
void copy(int n, const double* x, int ix, double* y, int iy) { cblas_dcopy(n, x, ix, y, iy); }
void copy(int n, const cuComplex* x, int ix, cuComplex* y, int iy) { cblas_ccopy(n, x, ix, y, iy); }
void copy(int n, const cuDoubleComplex* x, int ix, cuDoubleComplex* y, int iy) { cblas_zcopy(n, x, ix, y, iy); }
void swap(int n, float* x, int ix, float* y, int iy) { cblas_sswap(n, x, ix, y, iy); }
void swap(int n, double* x, int ix, double* y, int iy) { cblas_dswap(n, x, ix, y, iy); }
void swap(int n, cuComplex* x, int ix, cuComplex* y, int iy) { cblas_cswap(n, x, ix, y, iy); }
void swap(int n, cuDoubleComplex* x, int ix, cuDoubleComplex* y, int iy) { cblas_zswap(n, x, ix, y, iy); }
// Sums of floats are added in 64 bits: one after the other in 32 they are wrong where there are many.
void dot(int n, const float* x, int ix, const float* y, int iy, float* r) {
  *r = static_cast<float>(cblas_dsdot(n, x, ix, y, iy));
}
void dot(int n, const double* x, int ix, const double* y, int iy, double* r) { *r = cblas_ddot(n, x, ix, y, iy); }
cuComplex complex_dot(int n, const cuComplex* x, int ix, const cuComplex* y, int iy, double sign) {
  const auto parts = [&](const float* a, const float* b) { return cblas_dsdot(n, a, 2 * ix, b, 2 * iy); };
  return {static_cast<float>(parts(&x->x, &y->x) - sign * parts(&x->y, &y->y)),
          static_cast<float>(parts(&x->x, &y->y) + sign * parts(&x->y, &y->x))};
}
void dot(int n, const cuComplex* x, int ix, const cuComplex* y, int iy, cuComplex* r) {
  *r = complex_dot(n, x, ix, y, iy, 1);
}
void dot(int n, const cuDoubleComplex* x, int ix, const cuDoubleComplex* y, int iy, cuDoubleComplex* r) {
  cblas_zdotu_sub(n, x, ix, y, iy, r);
}
void dot_conjugate(int n, const cuComplex* x, int ix, const cuComplex* y, int iy, cuComplex* r) {
  *r = complex_dot(n, x, ix, y, iy, -1);
}
void dot_conjugate(int n, const cuDoubleComplex* x, int ix, const cuDoubleComplex* y, int iy, cuDoubleComplex* r) {
  cblas_zdotc_sub(n, x, ix, y, iy, r);
}
float norm(int n, const float* x, int ix) { return static_cast<float>(std::sqrt(cblas_dsdot(n, x, ix, x, ix))); }
double norm(int n, const double* x, int ix) { return cblas_dnrm2(n, x, ix); }
float norm(int n, const cuComplex* x, int ix) {
  const auto squares = [&](const float* a) { return cblas_dsdot(n, a, 2 * ix, a, 2 * ix); };
  return static_cast<float>(std::sqrt(squares(&x->x) + squares(&x->y)));
}
double norm(int n, const cuDoubleComplex* x, int ix) { return cblas_dznrm2(n, x, ix); }
float sum_of(int n, const float* x, i64 step) {
  double all = 0;
  for (i64 k = 0; k < n; ++k) all += std::fabs(x[k * step]);
  return static_cast<float>(all);
}
float sum(int n, const float* x, int ix) { return sum_of(n, x, ix); }
double sum(int n, const double* x, int ix) { return cblas_dasum(n, x, ix); }
float sum(int n, const cuComplex* x, int ix) { return sum_of(n, &x->x, 2 * i64{ix}) + sum_of(n, &x->y, 2 * i64{ix}); }
double sum(int n, const cuDoubleComplex* x, int ix) { return cblas_dzasum(n, x, ix); }

float size_of(float x) { return std::fabs(x); }
double size_of(double x) { return std::fabs(x); }
float size_of(cuComplex x) { return std::fabs(x.x) + std::fabs(x.y); }
double size_of(cuDoubleComplex x) { return std::fabs(x.x) + std::fabs(x.y); }

template <class A, class T>
cublasStatus_t axpy(cublasHandle_t h, i64 n, const A* alpha, const T* x, i64 ix, T* y, i64 iy) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!fit(n, ix, iy)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (n <= 0) return kSuccess;
  if (!alpha || !x || !y) return CUBLAS_STATUS_INVALID_VALUE;
  Touched t;
  t.vector(x, n, ix, sizeof(T), false), t.vector(y, n, iy, sizeof(T), true);
  return submit(h, t, [=, a = Scalar<A>(h, alpha)] {
    add(static_cast<int>(n), a.get(), x, static_cast<int>(ix), y, static_cast<int>(iy));
  });
}

template <class A, class T>
cublasStatus_t scal(cublasHandle_t h, i64 n, const A* alpha, T* x, i64 ix) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!fit(n, ix)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (n <= 0 || ix <= 0) return kSuccess;
  if (!alpha || !x) return CUBLAS_STATUS_INVALID_VALUE;
  Touched t;
  t.vector(x, n, ix, sizeof(T), true);
  return submit(h, t, [=, a = Scalar<A>(h, alpha)] { scale(static_cast<int>(n), a.get(), x, static_cast<int>(ix)); });
}

// Two vectors and nothing else.
template <class X, class T, class F>
cublasStatus_t both(cublasHandle_t h, i64 n, X* x, i64 ix, T* y, i64 iy, F f) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!fit(n, ix, iy)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (n <= 0) return kSuccess;
  if (!x || !y) return CUBLAS_STATUS_INVALID_VALUE;
  Touched t;
  t.vector(x, n, ix, sizeof(T), !std::is_const_v<X>), t.vector(y, n, iy, sizeof(T), true);
  return submit(h, t, [=] { f(static_cast<int>(n), x, static_cast<int>(ix), y, static_cast<int>(iy)); });
}

template <class T, class F>
cublasStatus_t product(cublasHandle_t h, i64 n, const T* x, i64 ix, const T* y, i64 iy, T* result, F f) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!fit(n, ix, iy)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!result || (n > 0 && (!x || !y))) return CUBLAS_STATUS_INVALID_VALUE;
  Touched t;
  t.vector(x, n, ix, sizeof(T), false), t.vector(y, n, iy, sizeof(T), false);
  if (h->pointers == CUBLAS_POINTER_MODE_DEVICE) t.vector(result, 1, 1, sizeof(T), true);
  return submit_result(h, t, [=] {
    *result = T{};
    if (n > 0) f(static_cast<int>(n), x, static_cast<int>(ix), y, static_cast<int>(iy), result);
  });
}

template <class T, class R, class F>
cublasStatus_t reduce(cublasHandle_t h, i64 n, const T* x, i64 ix, R* result, F f) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!fit(n, ix)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!result || (n > 0 && !x)) return CUBLAS_STATUS_INVALID_VALUE;
  const bool none = n <= 0 || ix <= 0;
  Touched t;
  if (!none) t.vector(x, n, ix, sizeof(T), false);
  if (h->pointers == CUBLAS_POINTER_MODE_DEVICE) t.vector(result, 1, 1, sizeof(R), true);
  return submit_result(h, t, [=] { *result = none ? R{} : f(static_cast<int>(n), x, static_cast<int>(ix)); });
}

// The first of the largest or smallest, counted from 1.
template <class T, class R, class Better>
cublasStatus_t extreme(cublasHandle_t h, i64 n, const T* x, i64 ix, R* result, Better better) {
  return reduce(h, n, x, ix, result, [better](int count, const T* v, int step) {
    int best = 0;
    for (int i = 1; i < count; ++i)
      if (better(size_of(v[static_cast<i64>(i) * step]), size_of(v[static_cast<i64>(best) * step]))) best = i;
    return static_cast<R>(best + 1);
  });
}

}  // namespace

#define US_EACH(F)                           \
  F(S, s, float, float, int, _v2)            \
  F(D, d, double, double, int, _v2)          \
  F(C, c, cuComplex, float, int, _v2)        \
  F(Z, z, cuDoubleComplex, double, int, _v2) \
  F(S, s, float, float, i64, _v2_64)         \
  F(D, d, double, double, i64, _v2_64)       \
  F(C, c, cuComplex, float, i64, _v2_64) F(Z, z, cuDoubleComplex, double, i64, _v2_64)
#define US_REAL(F) F(S, float, int, _v2) F(D, double, int, _v2) F(S, float, i64, _v2_64) F(D, double, i64, _v2_64)
#define US_COMPLEX(F)       \
  F(C, cuComplex, int, _v2) \
  F(Z, cuDoubleComplex, int, _v2) F(C, cuComplex, i64, _v2_64) F(Z, cuDoubleComplex, i64, _v2_64)

#define US_COMMON(L, low, T, R, I, V)                                                                         \
  US_API cublasStatus_t cublas##L##axpy##V(cublasHandle_t h, I n, const T* a, const T* x, I ix, T* y, I iy) { \
    return axpy(h, n, a, x, ix, y, iy);                                                                       \
  }                                                                                                           \
  US_API cublasStatus_t cublas##L##scal##V(cublasHandle_t h, I n, const T* a, T* x, I ix) {                   \
    return scal(h, n, a, x, ix);                                                                              \
  }                                                                                                           \
  US_API cublasStatus_t cublas##L##copy##V(cublasHandle_t h, I n, const T* x, I ix, T* y, I iy) {             \
    return both(h, n, x, ix, y, iy, [](int k, const T* p, int ip, T* q, int iq) { copy(k, p, ip, q, iq); });  \
  }                                                                                                           \
  US_API cublasStatus_t cublas##L##swap##V(cublasHandle_t h, I n, T* x, I ix, T* y, I iy) {                   \
    return both(h, n, x, ix, y, iy, [](int k, T* p, int ip, T* q, int iq) { swap(k, p, ip, q, iq); });        \
  }                                                                                                           \
  US_API cublasStatus_t cublasI##low##amax##V(cublasHandle_t h, I n, const T* x, I ix, I* result) {           \
    return extreme(h, n, x, ix, result, [](auto a, auto b) { return a > b; });                                \
  }                                                                                                           \
  US_API cublasStatus_t cublasI##low##amin##V(cublasHandle_t h, I n, const T* x, I ix, I* result) {           \
    return extreme(h, n, x, ix, result, [](auto a, auto b) { return a < b; });                                \
  }
US_EACH(US_COMMON)

#define US_DOT(name, T, I, with)                                                                           \
  US_API cublasStatus_t name(cublasHandle_t h, I n, const T* x, I ix, const T* y, I iy, T* result) {       \
    return product(h, n, x, ix, y, iy, result,                                                             \
                   [](int k, const T* p, int ip, const T* q, int iq, T* r) { with(k, p, ip, q, iq, r); }); \
  }
#define US_DOT_REAL(L, T, I, V) US_DOT(cublas##L##dot##V, T, I, dot)
#define US_DOT_COMPLEX(L, T, I, V) US_DOT(cublas##L##dotu##V, T, I, dot) US_DOT(cublas##L##dotc##V, T, I, dot_conjugate)
US_REAL(US_DOT_REAL)
US_COMPLEX(US_DOT_COMPLEX)

#define US_REDUCE(name, T, R, I, with)                                                            \
  US_API cublasStatus_t name(cublasHandle_t h, I n, const T* x, I ix, R* result) {                \
    return reduce(h, n, x, ix, result, [](int k, const T* p, int ip) { return with(k, p, ip); }); \
  }
#define US_NORMS(nrm2, asum, T, R)         \
  US_REDUCE(nrm2##_v2, T, R, int, norm)    \
  US_REDUCE(nrm2##_v2_64, T, R, i64, norm) \
  US_REDUCE(asum##_v2, T, R, int, sum)     \
  US_REDUCE(asum##_v2_64, T, R, i64, sum)
US_NORMS(cublasSnrm2, cublasSasum, float, float)
US_NORMS(cublasDnrm2, cublasDasum, double, double)
US_NORMS(cublasScnrm2, cublasScasum, cuComplex, float)
US_NORMS(cublasDznrm2, cublasDzasum, cuDoubleComplex, double)

US_API cublasStatus_t cublasCsscal_v2(cublasHandle_t h, int n, const float* a, cuComplex* x, int ix) {
  return scal(h, n, a, x, ix);
}
US_API cublasStatus_t cublasCsscal_v2_64(cublasHandle_t h, i64 n, const float* a, cuComplex* x, i64 ix) {
  return scal(h, n, a, x, ix);
}
US_API cublasStatus_t cublasZdscal_v2(cublasHandle_t h, int n, const double* a, cuDoubleComplex* x, int ix) {
  return scal(h, n, a, x, ix);
}
US_API cublasStatus_t cublasZdscal_v2_64(cublasHandle_t h, i64 n, const double* a, cuDoubleComplex* x, i64 ix) {
  return scal(h, n, a, x, ix);
}
