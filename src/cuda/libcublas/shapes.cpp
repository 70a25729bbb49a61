// SPDX-License-Identifier: Apache-2.0
// Matrices of a shape: banded, packed, symmetric, hermitian; their products with vectors and changes by vectors.
#include "cuda/api.h"
#include "cuda/libcublas/blas_calls.h"

using namespace us::cublas;
using i64 = int64_t;

namespace {

i64 packed(i64 n) { return n * (n + 1) / 2; }

// y = alpha a x + beta y; `call` has the matrix.
template <class T, class F>
cublasStatus_t onto(cublasHandle_t h, bool right, Touched t, i64 rows, i64 columns, const T* alpha, const T* x, i64 ix,
                    const T* beta, T* y, i64 iy, F call) {
  const auto r = state(h, right && rows >= 0 && columns >= 0 && ix && iy && alpha && beta, fit(rows, columns, ix, iy));
  if (r != kSuccess || !rows || !columns) return r;
  t.vector(x, columns, ix, sizeof(T), false), t.vector(y, rows, iy, sizeof(T), true);
  return submit(h, t, [=, p = Scalar<T>(h, alpha), q = Scalar<T>(h, beta)] {
    const T by = p.get(), old = q.get();
    call(by, x, small(ix), old, y, small(iy));
  });
}

// x = a x, or the solution of a x' = x.
template <class T, class F>
cublasStatus_t in_place(cublasHandle_t h, bool right, Touched t, i64 n, T* x, i64 ix, F call) {
  if (const auto r = state(h, right && n >= 0 && ix, fit(n, ix)); r != kSuccess || !n) return r;
  t.vector(x, n, ix, sizeof(T), true);
  return submit(h, t, [=] { call(x, small(ix)); });
}

// a += alpha x y'.
template <class A, class T, class F>
cublasStatus_t change(cublasHandle_t h, bool right, Touched t, i64 n, const A* alpha, const T* x, i64 ix, const T* y,
                      i64 iy, F call) {
  const auto r = state(h, right && n >= 0 && ix && iy && alpha, fit(n, ix, iy));
  if (r != kSuccess || !n) return r;
  t.vector(x, n, ix, sizeof(T), false);
  if (y) t.vector(y, n, iy, sizeof(T), false);
  return submit(h, t, [=, p = Scalar<A>(h, alpha)] {
    const A by = p.get();
    call(by, x, small(ix), y, small(iy));
  });
}

template <class T>
Touched matrix(const T* a, i64 rows, i64 columns, i64 ld, bool writes) {
  Touched t;
  t.matrix(a, rows, columns, ld, sizeof(T), writes);
  return t;
}

// BLAS has no complex symmetric ones.
template <class T>
const T& at(const T* x, i64 n, i64 step, i64 i) {
  return x[step > 0 ? i * step : (i - n + 1) * step];
}
template <class T>
T& at(T* x, i64 n, i64 step, i64 i) {
  return x[step > 0 ? i * step : (i - n + 1) * step];
}
template <class T>
void times_symmetric(CBLAS_ORDER, CBLAS_UPLO uplo, int n, const void* alpha, const T* a, int lda, const T* x, int ix,
                     const void* beta, T* y, int iy) {
  const auto by = number(*static_cast<const T*>(alpha)), old = number(*static_cast<const T*>(beta));
  const decltype(by) zero{};
  for (i64 i = 0; i < n; ++i) {
    auto sum = zero;
    for (i64 j = 0; j < n; ++j) {
      const bool here = uplo == CblasUpper ? i <= j : i >= j;
      sum += number(here ? a[j * lda + i] : a[i * lda + j]) * number(at(x, n, ix, j));
    }
    T& to = at(y, n, iy, i);
    put(to, by * sum + (old == zero ? zero : old * number(to)));
  }
}
template <class T>
void add_symmetric(CBLAS_UPLO uplo, int n, const void* alpha, const T* x, int ix, const T* y, int iy, T* a, int lda) {
  const auto by = number(*static_cast<const T*>(alpha));
  for (i64 j = 0; j < n; ++j)
    for (i64 i = uplo == CblasUpper ? 0 : j; i < (uplo == CblasUpper ? j + 1 : n); ++i) {
      auto more = by * number(at(x, n, ix, i)) * number(at(y ? y : x, n, y ? iy : ix, j));
      if (y) more += by * number(at(y, n, iy, i)) * number(at(x, n, ix, j));
      put(a[j * lda + i], number(a[j * lda + i]) + more);
    }
}
template <class T>
void add_square(CBLAS_ORDER, CBLAS_UPLO uplo, int n, const void* alpha, const T* x, int ix, T* a, int lda) {
  add_symmetric<T>(uplo, n, alpha, x, ix, nullptr, 1, a, lda);
}
template <class T>
void add_both(CBLAS_ORDER, CBLAS_UPLO uplo, int n, const void* alpha, const T* x, int ix, const T* y, int iy, T* a,
              int lda) {
  add_symmetric(uplo, n, alpha, x, ix, y, iy, a, lda);
}

#define US_FILL cublasHandle_t h, cublasFillMode_t uplo
#define US_TRIANGLE US_FILL, cublasOperation_t op, cublasDiagType_t diag
#define US_ONTO const T *x, I ix, const T *beta, T *y, I iy
#define US_CALL [=](const T& by, const T* p, int ip, const T& old, T* q, int iq)

template <class T, class I, class F>
cublasStatus_t band(cublasHandle_t h, cublasOperation_t op, I m, I n, I kl, I ku, const T* alpha, const T* a, I lda,
                    US_ONTO, F f) {
  const bool plain = op == CUBLAS_OP_N;
  return onto(
      h, kl >= 0 && ku >= 0 && lda >= kl + ku + 1, matrix(a, kl + ku + 1, n, lda, false), plain ? m : n, plain ? n : m,
      alpha, x, ix, beta, y, iy, US_CALL {
        f(kColumns, of(op), small(m), small(n), small(kl), small(ku), pass(by), a, small(lda), p, ip, pass(old), q, iq);
      });
}
template <class T, class I, class F>
cublasStatus_t symmetric(US_FILL, I n, const T* alpha, const T* a, I lda, US_ONTO, F f) {
  return onto(
      h, lda >= least(n), matrix(a, n, n, lda, false), n, n, alpha, x, ix, beta, y, iy,
      US_CALL { f(kColumns, of(uplo), small(n), pass(by), a, small(lda), p, ip, pass(old), q, iq); });
}
template <class T, class I, class F>
cublasStatus_t symmetric_band(US_FILL, I n, I k, const T* alpha, const T* a, I lda, US_ONTO, F f) {
  return onto(
      h, k >= 0 && lda > k, matrix(a, k + 1, n, lda, false), n, n, alpha, x, ix, beta, y, iy,
      US_CALL { f(kColumns, of(uplo), small(n), small(k), pass(by), a, small(lda), p, ip, pass(old), q, iq); });
}
template <class T, class I, class F>
cublasStatus_t symmetric_packed(US_FILL, I n, const T* alpha, const T* a, US_ONTO, F f) {
  return onto(
      h, true, matrix(a, packed(n), 1, packed(n), false), n, n, alpha, x, ix, beta, y, iy,
      US_CALL { f(kColumns, of(uplo), small(n), pass(by), a, p, ip, pass(old), q, iq); });
}
template <class T, class I, class F>
cublasStatus_t triangle_band(US_TRIANGLE, I n, I k, const T* a, I lda, T* x, I ix, F f) {
  return in_place(h, k >= 0 && lda > k, matrix(a, k + 1, n, lda, false), n, x, ix, [=](T* p, int ip) {
    f(kColumns, of(uplo), of(op), of(diag), small(n), small(k), a, small(lda), p, ip);
  });
}
template <class T, class I, class F>
cublasStatus_t triangle_packed(US_TRIANGLE, I n, const T* a, T* x, I ix, F f) {
  return in_place(h, true, matrix(a, packed(n), 1, packed(n), false), n, x, ix,
                  [=](T* p, int ip) { f(kColumns, of(uplo), of(op), of(diag), small(n), a, p, ip); });
}
template <class A, class T, class I, class F>
cublasStatus_t square(US_FILL, I n, const A* alpha, const T* x, I ix, T* a, I lda, F f) {
  return change(h, lda >= least(n), matrix(a, n, n, lda, true), n, alpha, x, ix, static_cast<const T*>(nullptr), 1,
                [=](const A& by, const T* p, int ip, const T*, int) {
                  f(kColumns, of(uplo), small(n), pass(by), p, ip, a, small(lda));
                });
}
template <class A, class T, class I, class F>
cublasStatus_t square_packed(US_FILL, I n, const A* alpha, const T* x, I ix, T* a, F f) {
  return change(
      h, true, matrix(a, packed(n), 1, packed(n), true), n, alpha, x, ix, static_cast<const T*>(nullptr), 1,
      [=](const A& by, const T* p, int ip, const T*, int) { f(kColumns, of(uplo), small(n), pass(by), p, ip, a); });
}
template <class T, class I, class F>
cublasStatus_t both(US_FILL, I n, const T* alpha, const T* x, I ix, const T* y, I iy, T* a, I lda, F f) {
  return change(h, lda >= least(n) && y, matrix(a, n, n, lda, true), n, alpha, x, ix, y, iy,
                [=](const T& by, const T* p, int ip, const T* q, int iq) {
                  f(kColumns, of(uplo), small(n), pass(by), p, ip, q, iq, a, small(lda));
                });
}
template <class T, class I, class F>
cublasStatus_t both_packed(US_FILL, I n, const T* alpha, const T* x, I ix, const T* y, I iy, T* a, F f) {
  return change(h, y != nullptr, matrix(a, packed(n), 1, packed(n), true), n, alpha, x, ix, y, iy,
                [=](const T& by, const T* p, int ip, const T* q, int iq) {
                  f(kColumns, of(uplo), small(n), pass(by), p, ip, q, iq, a);
                });
}

}  // namespace

#define US_VECTORS(type, I) const type *alpha, const type *x, I ix, const type *y, I iy
#define US_SYMV(name, type, I, with)                                                                     \
  US_API cublasStatus_t name(US_FILL, I n, const type* alpha, const type* a, I lda, const type* x, I ix, \
                             const type* beta, type* y, I iy) {                                          \
    return symmetric(h, uplo, n, alpha, a, lda, x, ix, beta, y, iy, with);                               \
  }
#define US_SBMV(name, type, I, with)                                                                          \
  US_API cublasStatus_t name(US_FILL, I n, I k, const type* alpha, const type* a, I lda, const type* x, I ix, \
                             const type* beta, type* y, I iy) {                                               \
    return symmetric_band(h, uplo, n, k, alpha, a, lda, x, ix, beta, y, iy, with);                            \
  }
#define US_SPMV(name, type, I, with)                                                                                \
  US_API cublasStatus_t name(US_FILL, I n, const type* alpha, const type* a, const type* x, I ix, const type* beta, \
                             type* y, I iy) {                                                                       \
    return symmetric_packed(h, uplo, n, alpha, a, x, ix, beta, y, iy, with);                                        \
  }
#define US_SYR(name, A, type, I, with)                                                            \
  US_API cublasStatus_t name(US_FILL, I n, const A* alpha, const type* x, I ix, type* a, I lda) { \
    return square(h, uplo, n, alpha, x, ix, a, lda, with);                                        \
  }
#define US_SPR(name, A, type, I, with)                                                     \
  US_API cublasStatus_t name(US_FILL, I n, const A* alpha, const type* x, I ix, type* a) { \
    return square_packed(h, uplo, n, alpha, x, ix, a, with);                               \
  }
#define US_SYR2(name, type, I, with)                                              \
  US_API cublasStatus_t name(US_FILL, I n, US_VECTORS(type, I), type* a, I lda) { \
    return both(h, uplo, n, alpha, x, ix, y, iy, a, lda, with);                   \
  }
#define US_SPR2(name, type, I, with)                                       \
  US_API cublasStatus_t name(US_FILL, I n, US_VECTORS(type, I), type* a) { \
    return both_packed(h, uplo, n, alpha, x, ix, y, iy, a, with);          \
  }
#define US_ANY(L, low, type, I, V)                                                                       \
  US_API cublasStatus_t cublas##L##gbmv##V(cublasHandle_t h, cublasOperation_t op, I m, I n, I kl, I ku, \
                                           const type* alpha, const type* a, I lda, const type* x, I ix, \
                                           const type* beta, type* y, I iy) {                            \
    return band(h, op, m, n, kl, ku, alpha, a, lda, x, ix, beta, y, iy, cblas_##low##gbmv);              \
  }                                                                                                      \
  US_API cublasStatus_t cublas##L##tbmv##V(US_TRIANGLE, I n, I k, const type* a, I lda, type* x, I ix) { \
    return triangle_band(h, uplo, op, diag, n, k, a, lda, x, ix, cblas_##low##tbmv);                     \
  }                                                                                                      \
  US_API cublasStatus_t cublas##L##tbsv##V(US_TRIANGLE, I n, I k, const type* a, I lda, type* x, I ix) { \
    return triangle_band(h, uplo, op, diag, n, k, a, lda, x, ix, cblas_##low##tbsv);                     \
  }                                                                                                      \
  US_API cublasStatus_t cublas##L##tpmv##V(US_TRIANGLE, I n, const type* a, type* x, I ix) {             \
    return triangle_packed(h, uplo, op, diag, n, a, x, ix, cblas_##low##tpmv);                           \
  }                                                                                                      \
  US_API cublasStatus_t cublas##L##tpsv##V(US_TRIANGLE, I n, const type* a, type* x, I ix) {             \
    return triangle_packed(h, uplo, op, diag, n, a, x, ix, cblas_##low##tpsv);                           \
  }
#define US_REAL(L, low, type, I, V)                          \
  US_ANY(L, low, type, I, V)                                 \
  US_SYMV(cublas##L##symv##V, type, I, cblas_##low##symv)    \
  US_SBMV(cublas##L##sbmv##V, type, I, cblas_##low##sbmv)    \
  US_SPMV(cublas##L##spmv##V, type, I, cblas_##low##spmv)    \
  US_SYR(cublas##L##syr##V, type, type, I, cblas_##low##syr) \
  US_SPR(cublas##L##spr##V, type, type, I, cblas_##low##spr) \
  US_SYR2(cublas##L##syr2##V, type, I, cblas_##low##syr2)    \
  US_SPR2(cublas##L##spr2##V, type, I, cblas_##low##spr2)
#define US_COMPLEX(L, low, A, type, I, V)                     \
  US_ANY(L, low, type, I, V)                                  \
  US_SYMV(cublas##L##symv##V, type, I, times_symmetric<type>) \
  US_SYMV(cublas##L##hemv##V, type, I, cblas_##low##hemv)     \
  US_SBMV(cublas##L##hbmv##V, type, I, cblas_##low##hbmv)     \
  US_SPMV(cublas##L##hpmv##V, type, I, cblas_##low##hpmv)     \
  US_SYR(cublas##L##syr##V, type, type, I, add_square<type>)  \
  US_SYR(cublas##L##her##V, A, type, I, cblas_##low##her)     \
  US_SPR(cublas##L##hpr##V, A, type, I, cblas_##low##hpr)     \
  US_SYR2(cublas##L##syr2##V, type, I, add_both<type>)        \
  US_SYR2(cublas##L##her2##V, type, I, cblas_##low##her2)     \
  US_SPR2(cublas##L##hpr2##V, type, I, cblas_##low##hpr2)
#define US_ALL(I, V)                       \
  US_REAL(S, s, float, I, V)               \
  US_REAL(D, d, double, I, V)              \
  US_COMPLEX(C, c, float, cuComplex, I, V) \
  US_COMPLEX(Z, z, double, cuDoubleComplex, I, V)
US_ALL(int, _v2)
US_ALL(i64, _v2_64)
