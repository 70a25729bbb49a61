// SPDX-License-Identifier: Apache-2.0
// Matrices with vectors, triangular systems, products of a matrix with itself, sums.
#include <algorithm>

#include "cuda/api.h"
#include "cuda/libcublas/blas_calls.h"

using namespace us::cublas;
using i64 = int64_t;

namespace {

template <class T, class F>
cublasStatus_t gemv(cublasHandle_t h, cublasOperation_t op, i64 m, i64 n, const T* alpha, const T* a, i64 lda,
                    const T* x, i64 ix, const T* beta, T* y, i64 iy, F f) {
  const bool right = m >= 0 && n >= 0 && lda >= least(m) && ix && iy && alpha && beta;
  if (const auto r = state(h, right, fit(m, n, lda, ix, iy)); r != kSuccess || !m || !n) return r;
  Touched t;
  const bool plain = op == CUBLAS_OP_N;
  t.matrix(a, m, n, lda, sizeof(T), false), t.vector(x, plain ? n : m, ix, sizeof(T), false);
  t.vector(y, plain ? m : n, iy, sizeof(T), true);
  return submit(h, t, [=, p = Scalar<T>(h, alpha), q = Scalar<T>(h, beta)] {
    const T by = p.get(), old = q.get();
    f(kColumns, of(op), small(m), small(n), pass(by), a, small(lda), x, small(ix), pass(old), y, small(iy));
  });
}

template <class T, class F>
cublasStatus_t ger(cublasHandle_t h, i64 m, i64 n, const T* alpha, const T* x, i64 ix, const T* y, i64 iy, T* a,
                   i64 lda, F f) {
  const bool right = m >= 0 && n >= 0 && lda >= least(m) && ix && iy && alpha;
  if (const auto r = state(h, right, fit(m, n, lda, ix, iy)); r != kSuccess || !m || !n) return r;
  Touched t;
  t.vector(x, m, ix, sizeof(T), false), t.vector(y, n, iy, sizeof(T), false);
  t.matrix(a, m, n, lda, sizeof(T), true);
  return submit(h, t, [=, p = Scalar<T>(h, alpha)] {
    const T by = p.get();
    f(kColumns, small(m), small(n), pass(by), x, small(ix), y, small(iy), a, small(lda));
  });
}

template <class T, class F>
cublasStatus_t trsv(cublasHandle_t h, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag, i64 n,
                    const T* a, i64 lda, T* x, i64 ix, F f) {
  if (const auto r = state(h, n >= 0 && lda >= least(n) && ix, fit(n, lda, ix)); r != kSuccess || !n) return r;
  Touched t;
  t.matrix(a, n, n, lda, sizeof(T), false), t.vector(x, n, ix, sizeof(T), true);
  return submit(h, t, [=] { f(kColumns, of(uplo), of(op), of(diag), small(n), a, small(lda), x, small(ix)); });
}

// b becomes the solution, or what the triangle makes of `from`, which may be b.
template <class T, class F>
cublasStatus_t triangle(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,
                        cublasDiagType_t diag, i64 m, i64 n, const T* alpha, const T* a, i64 lda, const T* from,
                        i64 ldf, T* b, i64 ldb, F f) {
  const i64 size = side == CUBLAS_SIDE_LEFT ? m : n;
  const bool right = m >= 0 && n >= 0 && lda >= least(size) && ldb >= least(m) && ldf >= least(m) && alpha;
  if (const auto r = state(h, right, fit(m, n, lda, ldb, ldf)); r != kSuccess || !m || !n) return r;
  Touched t;
  t.matrix(a, size, size, lda, sizeof(T), false), t.matrix(b, m, n, ldb, sizeof(T), true);
  if (from != b) t.matrix(from, m, n, ldf, sizeof(T), false);
  return submit(h, t, [=, p = Scalar<T>(h, alpha)] {
    const T by = p.get();
    if (from != b)
      for (i64 c = 0; c < n; ++c) std::copy_n(from + c * ldf, m, b + c * ldb);
    f(kColumns, of(side), of(uplo), of(op), of(diag), small(m), small(n), pass(by), a, small(lda), b, small(ldb));
  });
}

template <class T, class F>
cublasStatus_t syrk(cublasHandle_t h, cublasFillMode_t uplo, cublasOperation_t op, i64 n, i64 k, const T* alpha,
                    const T* a, i64 lda, const T* beta, T* c, i64 ldc, F f) {
  const i64 rows = op == CUBLAS_OP_N ? n : k, columns = op == CUBLAS_OP_N ? k : n;
  const bool right = n >= 0 && k >= 0 && lda >= least(rows) && ldc >= least(n) && alpha && beta;
  if (const auto r = state(h, right, fit(n, k, lda, ldc)); r != kSuccess || !n) return r;
  Touched t;
  t.matrix(a, rows, columns, lda, sizeof(T), false), t.matrix(c, n, n, ldc, sizeof(T), true);
  return submit(h, t, [=, p = Scalar<T>(h, alpha), q = Scalar<T>(h, beta)] {
    const T by = p.get(), old = q.get();
    f(kColumns, of(uplo), of(op), small(n), small(k), pass(by), a, small(lda), pass(old), c, small(ldc));
  });
}

// c = alpha op(a) + beta op(b); c may be a or b where that one is not transposed.
template <class T>
cublasStatus_t geam(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, i64 m, i64 n, const T* alpha,
                    const T* a, i64 lda, const T* beta, const T* b, i64 ldb, T* c, i64 ldc) {
  const bool plain_a = ta == CUBLAS_OP_N, plain_b = tb == CUBLAS_OP_N;
  const bool right = m >= 0 && n >= 0 && lda >= least(plain_a ? m : n) && ldb >= least(plain_b ? m : n) &&
                     ldc >= least(m) && alpha && beta && (a != c || (plain_a && lda == ldc)) &&
                     (b != c || (plain_b && ldb == ldc));
  if (const auto r = state(h, right, fit(m, n, lda, ldb, ldc)); r != kSuccess || !m || !n) return r;
  Touched t;
  if (a) t.matrix(a, plain_a ? m : n, plain_a ? n : m, lda, sizeof(T), false);
  if (b) t.matrix(b, plain_b ? m : n, plain_b ? n : m, ldb, sizeof(T), false);
  t.matrix(c, m, n, ldc, sizeof(T), true);
  return submit(h, t, [=, p = Scalar<T>(h, alpha), q = Scalar<T>(h, beta)] {
    const auto by = number(p.get()), with = number(q.get());
    const auto take = [](cublasOperation_t op, const T* x, i64 ld, i64 i, i64 j) {
      const auto v = number(op == CUBLAS_OP_N ? x[j * ld + i] : x[i * ld + j]);
      return op == CUBLAS_OP_C ? conjugate(v) : v;
    };
    const decltype(by) zero{};
    for (i64 j = 0; j < n; ++j)
      for (i64 i = 0; i < m; ++i) {
        const auto first = by == zero ? zero : by * take(ta, a, lda, i, j);
        put(c[j * ldc + i], first + (with == zero ? zero : with * take(tb, b, ldb, i, j)));
      }
  });
}

}  // namespace

#define US_EACH(F)                     \
  F(S, s, float, int, _v2, )           \
  F(D, d, double, int, _v2, )          \
  F(C, c, cuComplex, int, _v2, )       \
  F(Z, z, cuDoubleComplex, int, _v2, ) \
  F(S, s, float, i64, _v2_64, _64)     \
  F(D, d, double, i64, _v2_64, _64) F(C, c, cuComplex, i64, _v2_64, _64) F(Z, z, cuDoubleComplex, i64, _v2_64, _64)

#define US_MATRICES(L, low, T, I, V, V2)                                                                               \
  US_API cublasStatus_t cublas##L##gemv##V(cublasHandle_t h, cublasOperation_t op, I m, I n, const T* alpha,           \
                                           const T* a, I lda, const T* x, I ix, const T* beta, T* y, I iy) {           \
    return gemv(h, op, m, n, alpha, a, lda, x, ix, beta, y, iy, cblas_##low##gemv);                                    \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##trsv##V(cublasHandle_t h, cublasFillMode_t uplo, cublasOperation_t op,              \
                                           cublasDiagType_t diag, I n, const T* a, I lda, T* x, I ix) {                \
    return trsv(h, uplo, op, diag, n, a, lda, x, ix, cblas_##low##trsv);                                               \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##trmv##V(cublasHandle_t h, cublasFillMode_t uplo, cublasOperation_t op,              \
                                           cublasDiagType_t diag, I n, const T* a, I lda, T* x, I ix) {                \
    return trsv(h, uplo, op, diag, n, a, lda, x, ix, cblas_##low##trmv);                                               \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##trsm##V(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo,             \
                                           cublasOperation_t op, cublasDiagType_t diag, I m, I n, const T* alpha,      \
                                           const T* a, I lda, T* b, I ldb) {                                           \
    return triangle(h, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb, b, ldb, cblas_##low##trsm);                  \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##trmm##V(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo,             \
                                           cublasOperation_t op, cublasDiagType_t diag, I m, I n, const T* alpha,      \
                                           const T* a, I lda, const T* b, I ldb, T* c, I ldc) {                        \
    return triangle(h, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb, c, ldc, cblas_##low##trmm);                  \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##syrk##V(cublasHandle_t h, cublasFillMode_t uplo, cublasOperation_t op, I n, I k,    \
                                           const T* alpha, const T* a, I lda, const T* beta, T* c, I ldc) {            \
    return syrk(h, uplo, op, n, k, alpha, a, lda, beta, c, ldc, cblas_##low##syrk);                                    \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##symm##V(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, I m, I n,   \
                                           const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c,  \
                                           I ldc) {                                                                    \
    return symm(h, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, cblas_##low##symm);                          \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##geam##V2(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, I m, I n,    \
                                            const T* alpha, const T* a, I lda, const T* beta, const T* b, I ldb, T* c, \
                                            I ldc) {                                                                   \
    return geam(h, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);                                                 \
  }
US_EACH(US_MATRICES)

#define US_GER(name, T, I, with)                                                                                   \
  US_API cublasStatus_t name(cublasHandle_t h, I m, I n, const T* alpha, const T* x, I ix, const T* y, I iy, T* a, \
                             I lda) {                                                                              \
    return ger(h, m, n, alpha, x, ix, y, iy, a, lda, with);                                                        \
  }
#define US_GERS(I, V)                                     \
  US_GER(cublasSger##V, float, I, cblas_sger)             \
  US_GER(cublasDger##V, double, I, cblas_dger)            \
  US_GER(cublasCgeru##V, cuComplex, I, cblas_cgeru)       \
  US_GER(cublasCgerc##V, cuComplex, I, cblas_cgerc)       \
  US_GER(cublasZgeru##V, cuDoubleComplex, I, cblas_zgeru) \
  US_GER(cublasZgerc##V, cuDoubleComplex, I, cblas_zgerc)
US_GERS(int, _v2)
US_GERS(i64, _v2_64)
