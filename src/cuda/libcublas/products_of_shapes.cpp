// SPDX-License-Identifier: Apache-2.0
// Products of hermitian matrices, sums of two products, diagonals, packed triangles.
#include "cuda/api.h"
#include "cuda/libcublas/blas_calls.h"

using namespace us::cublas;
using i64 = int64_t;

namespace {

// c = alpha a + beta c with the triangle `uplo` of c; A and B: types of alpha and beta.
template <class A, class B, class T, class F>
cublasStatus_t rank(cublasHandle_t h, cublasOperation_t op, i64 n, i64 k, const A* alpha, const T* a, i64 lda,
                    const T* b, i64 ldb, const B* beta, T* c, i64 ldc, F call) {
  const bool plain = op == CUBLAS_OP_N;
  const i64 rows = plain ? n : k, columns = plain ? k : n;
  const bool right =
      n >= 0 && k >= 0 && lda >= least(rows) && (!b || ldb >= least(rows)) && ldc >= least(n) && alpha && beta;
  if (const auto r = state(h, right, fit(n, k, lda, ldb, ldc)); r != kSuccess || !n) return r;
  Touched t;
  t.matrix(a, rows, columns, lda, sizeof(T), false), t.matrix(c, n, n, ldc, sizeof(T), true);
  if (b) t.matrix(b, rows, columns, ldb, sizeof(T), false);
  return submit(h, t, [=, p = Scalar<A>(h, alpha), q = Scalar<B>(h, beta)] {
    const A by = p.get();
    const B old = q.get();
    call(by, old);
  });
}

// c = alpha op(a) op(b)' + beta c, of which the caller knows that it is symmetric (or hermitian).
template <bool kHermitian, class B, class T>
cublasStatus_t rank_kx(cublasHandle_t h, cublasFillMode_t uplo, cublasOperation_t op, i64 n, i64 k, const T* alpha,
                       const T* a, i64 lda, const T* b, i64 ldb, const B* beta, T* c, i64 ldc) {
  return rank(h, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, [=](const T& by, const B& old) {
    const bool plain = op == CUBLAS_OP_N;
    const auto factor = number(by);
    const auto before = number(old);
    for (i64 j = 0; j < n; ++j)
      for (i64 i = uplo == CUBLAS_FILL_MODE_UPPER ? 0 : j; i < (uplo == CUBLAS_FILL_MODE_UPPER ? j + 1 : n); ++i) {
        decltype(number(*a) * number(*a)) sum{};
        for (i64 l = 0; l < k; ++l) {
          auto x = number(plain ? a[l * lda + i] : a[i * lda + l]), y = number(plain ? b[l * ldb + j] : b[j * ldb + l]);
          if (kHermitian) (plain ? y : x) = conjugate(plain ? y : x);
          sum += x * y;
        }
        T& to = c[j * ldc + i];
        const auto had = before == decltype(before){} ? decltype(sum){} : before * number(to);
        put(to, factor * sum + had);
      }
  });
}

// c = a diag(x) or diag(x) a; c may be a.
template <class T>
cublasStatus_t dgmm(cublasHandle_t h, cublasSideMode_t side, i64 m, i64 n, const T* a, i64 lda, const T* x, i64 ix,
                    T* c, i64 ldc) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  const bool right = m >= 0 && n >= 0 && lda >= least(m) && ldc >= least(m);
  if (const auto r = state(h, right, fit(m, n, lda, ix, ldc)); r != kSuccess || !m || !n) return r;
  Touched t;
  const i64 count = left ? m : n;
  t.matrix(a, m, n, lda, sizeof(T), false), t.vector(x, ix ? count : 1, ix ? ix : 1, sizeof(T), false);
  t.matrix(c, m, n, ldc, sizeof(T), true);
  return submit(h, t, [=] {
    for (i64 j = 0; j < n; ++j)
      for (i64 i = 0; i < m; ++i) {
        const i64 place = left ? i : j;
        put(c[j * ldc + i], number(a[j * lda + i]) * number(x[ix >= 0 ? place * ix : (place - count + 1) * ix]));
      }
  });
}

// Between a triangle of a matrix and the same packed.
template <bool kPack, class T>
cublasStatus_t pack(cublasHandle_t h, cublasFillMode_t uplo, i64 n, const T* from, T* to, i64 ld) {
  if (const auto r = state(h, n >= 0 && ld >= least(n), fit(n, ld)); r != kSuccess || !n) return r;
  Touched t;
  t.matrix(kPack ? from : to, n, n, ld, sizeof(T), !kPack);
  t.vector(kPack ? to : from, n * (n + 1) / 2, 1, sizeof(T), kPack);
  return submit(h, t, [=] {
    i64 place = 0;
    for (i64 j = 0; j < n; ++j)
      for (i64 i = uplo == CUBLAS_FILL_MODE_UPPER ? 0 : j; i < (uplo == CUBLAS_FILL_MODE_UPPER ? j + 1 : n);
           ++i, ++place)
        if constexpr (kPack)
          to[place] = from[j * ld + i];
        else
          to[j * ld + i] = from[place];
  });
}

}  // namespace

#define US_RANK(I) cublasHandle_t h, cublasFillMode_t uplo, cublasOperation_t op, I n, I k
#define US_2K(name, T, B, I, with)                                                                                  \
  US_API cublasStatus_t name(US_RANK(I), const T* alpha, const T* a, I lda, const T* b, I ldb, const B* beta, T* c, \
                             I ldc) {                                                                               \
    if (h && !b && k) return CUBLAS_STATUS_INVALID_VALUE;                                                           \
    return rank(h, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, [=](const T& by, const B& old) {                  \
      with(kColumns, of(uplo), of(op), small(n), small(k), pass(by), a, small(lda), b, small(ldb), pass(old), c,    \
           small(ldc));                                                                                             \
    });                                                                                                             \
  }
#define US_KX(name, T, B, I, hermitian)                                                                             \
  US_API cublasStatus_t name(US_RANK(I), const T* alpha, const T* a, I lda, const T* b, I ldb, const B* beta, T* c, \
                             I ldc) {                                                                               \
    return rank_kx<hermitian>(h, uplo, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                              \
  }
#define US_ANY(L, low, T, I, V, V2)                                                                               \
  US_2K(cublas##L##syr2k##V, T, T, I, cblas_##low##syr2k)                                                         \
  US_KX(cublas##L##syrkx##V2, T, T, I, false)                                                                     \
  US_API cublasStatus_t cublas##L##dgmm##V2(cublasHandle_t h, cublasSideMode_t side, I m, I n, const T* a, I lda, \
                                            const T* x, I ix, T* c, I ldc) {                                      \
    return dgmm(h, side, m, n, a, lda, x, ix, c, ldc);                                                            \
  }
#define US_COMPLEX(L, low, T, R, I, V, V2)                                                                            \
  US_2K(cublas##L##her2k##V, T, R, I, cblas_##low##her2k)                                                             \
  US_KX(cublas##L##herkx##V2, T, R, I, true)                                                                          \
  US_API cublasStatus_t cublas##L##herk##V(US_RANK(I), const R* alpha, const T* a, I lda, const R* beta, T* c,        \
                                           I ldc) {                                                                   \
    return rank(                                                                                                      \
        h, op, n, k, alpha, a, lda, static_cast<const T*>(nullptr), 1, beta, c, ldc, [=](const R& by, const R& old) { \
          cblas_##low##herk(kColumns, of(uplo), of(op), small(n), small(k), by, a, small(lda), old, c, small(ldc));   \
        });                                                                                                           \
  }                                                                                                                   \
  US_API cublasStatus_t cublas##L##hemm##V(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, I m, I n,  \
                                           const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c, \
                                           I ldc) {                                                                   \
    return symm(h, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, cblas_##low##hemm);                         \
  }                                                                                                                   \
  US_API cublasStatus_t cublas##L##gemm3m##V2(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, I m, I n, \
                                              I k, const T* alpha, const T* a, I lda, const T* b, I ldb,              \
                                              const T* beta, T* c, I ldc) {                                           \
    return cublas##L##gemm##V(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                               \
  }
#define US_ALL(I, V, V2)                       \
  US_ANY(S, s, float, I, V, V2)                \
  US_ANY(D, d, double, I, V, V2)               \
  US_ANY(C, c, cuComplex, I, V, V2)            \
  US_ANY(Z, z, cuDoubleComplex, I, V, V2)      \
  US_COMPLEX(C, c, cuComplex, float, I, V, V2) \
  US_COMPLEX(Z, z, cuDoubleComplex, double, I, V, V2)
US_ALL(int, _v2, )
US_ALL(i64, _v2_64, _64)

#define US_PACK(L, T)                                                                                                 \
  US_API cublasStatus_t cublas##L##tpttr(cublasHandle_t h, cublasFillMode_t uplo, int n, const T* ap, T* a, int ld) { \
    return pack<false>(h, uplo, n, ap, a, ld);                                                                        \
  }                                                                                                                   \
  US_API cublasStatus_t cublas##L##trttp(cublasHandle_t h, cublasFillMode_t uplo, int n, const T* a, int ld, T* ap) { \
    return pack<true>(h, uplo, n, a, ap, ld);                                                                         \
  }
US_PACK(S, float)
US_PACK(D, double)
US_PACK(C, cuComplex)
US_PACK(Z, cuDoubleComplex)
