// SPDX-License-Identifier: Apache-2.0
// What calls of the system's BLAS have in common: its names of options, and how it takes numbers.
#pragma once
#include <cblas.h>

#include <complex>

#include "cuda/libcublas/handle.h"

namespace us::cublas {

constexpr cublasStatus_t kSuccess = CUBLAS_STATUS_SUCCESS;
constexpr auto kColumns = CblasColMajor;

inline CBLAS_TRANSPOSE of(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? CblasNoTrans : op == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}
inline CBLAS_UPLO of(cublasFillMode_t f) { return f == CUBLAS_FILL_MODE_UPPER ? CblasUpper : CblasLower; }
inline CBLAS_DIAG of(cublasDiagType_t d) { return d == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit; }
inline CBLAS_SIDE of(cublasSideMode_t s) { return s == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight; }
inline int small(int64_t n) { return static_cast<int>(n); }

// BLAS takes real numbers by value, complex ones by address.
inline float pass(const float& x) { return x; }
inline double pass(const double& x) { return x; }
inline const void* pass(const cuComplex& x) { return &x; }
inline const void* pass(const cuDoubleComplex& x) { return &x; }

inline Single number(cuComplex x) { return {x.x, x.y}; }
inline Double number(cuDoubleComplex x) { return {x.x, x.y}; }
inline float number(float x) { return x; }
inline double number(double x) { return x; }
inline void put(float& to, float x) { to = x; }
inline void put(double& to, double x) { to = x; }
inline void put(cuComplex& to, Single x) { to = {x.real(), x.imag()}; }
inline void put(cuDoubleComplex& to, Double x) { to = {x.real(), x.imag()}; }
inline float conjugate(float x) { return x; }
inline double conjugate(double x) { return x; }
template <class T>
std::complex<T> conjugate(std::complex<T> x) {
  return std::conj(x);
}

inline cublasStatus_t state(cublasHandle_t h, bool right, bool fits) {
  return !h       ? CUBLAS_STATUS_NOT_INITIALIZED
         : !right ? CUBLAS_STATUS_INVALID_VALUE
         : !fits  ? CUBLAS_STATUS_NOT_SUPPORTED
                  : kSuccess;
}
inline int64_t least(int64_t rows) { return rows > 1 ? rows : 1; }

// c = alpha a b + beta c, or with b a; a is symmetric or hermitian, of which `f` sees one triangle.
template <class T, class F>
cublasStatus_t symm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, int64_t m, int64_t n,
                    const T* alpha, const T* a, int64_t lda, const T* b, int64_t ldb, const T* beta, T* c, int64_t ldc,
                    F f) {
  const int64_t size = side == CUBLAS_SIDE_LEFT ? m : n;
  const bool right = m >= 0 && n >= 0 && lda >= least(size) && ldb >= least(m) && ldc >= least(m) && alpha && beta;
  if (const auto r = state(h, right, fit(m, n, lda, ldb, ldc)); r != kSuccess || !m || !n) return r;
  Touched t;
  t.matrix(a, size, size, lda, sizeof(T), false), t.matrix(b, m, n, ldb, sizeof(T), false);
  t.matrix(c, m, n, ldc, sizeof(T), true);
  return submit(h, t, [=, p = Scalar<T>(h, alpha), q = Scalar<T>(h, beta)] {
    const T by = p.get(), old = q.get();
    f(kColumns, of(side), of(uplo), small(m), small(n), pass(by), a, small(lda), b, small(ldb), pass(old), c,
      small(ldc));
  });
}

}  // namespace us::cublas
