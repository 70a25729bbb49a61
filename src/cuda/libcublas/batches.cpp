// SPDX-License-Identifier: Apache-2.0
// Many small matrices at once: times vectors, triangles, factors and inverses. Arrays of pointers lie on the device.
#include <algorithm>
#include <vector>

#include "cuda/api.h"
#include "cuda/libcublas/blas_calls.h"

using namespace us::cublas;
using i64 = int64_t;

namespace {

// Where the parts of one call are: by an array of pointers or by strides.
template <class T>
struct Many {
  T* const* array = nullptr;
  T* first = nullptr;
  i64 step = 0;
  T* operator[](i64 i) const { return array ? array[i] : first + i * step; }
};
template <class T>
Many<T> by(T* const* array) {
  return {array};
}
template <class T>
Many<T> by(T* first, i64 step) {
  return {nullptr, first, step};
}
template <class T>
void pointers(Touched& t, const Many<T>& m, i64 count) {
  if (m.array) t.vector(m.array, count, 1, sizeof(T*), false);
}

template <class T, class F>
cublasStatus_t gemv(cublasHandle_t h, cublasOperation_t op, i64 m, i64 n, const T* alpha, Many<const T> a, i64 lda,
                    Many<const T> x, i64 ix, const T* beta, Many<T> y, i64 iy, i64 count, F f) {
  const bool right = m >= 0 && n >= 0 && lda >= least(m) && ix && iy && alpha && beta && count >= 0;
  if (const auto r = state(h, right, fit(m, n, lda, ix, iy)); r != kSuccess || !m || !n || !count) return r;
  Touched t;
  pointers(t, a, count), pointers(t, x, count), pointers(t, y, count);
  const bool plain = op == CUBLAS_OP_N;
  for (i64 i = 0; i < count && !a.array; ++i) {
    t.matrix(a[i], m, n, lda, sizeof(T), false), t.vector(x[i], plain ? n : m, ix, sizeof(T), false);
    t.vector(y[i], plain ? m : n, iy, sizeof(T), true);
  }
  return submit(h, t, [=, p = Scalar<T>(h, alpha), q = Scalar<T>(h, beta)] {
    const T factor = p.get(), old = q.get();
    for (i64 i = 0; i < count; ++i)
      f(kColumns, of(op), small(m), small(n), pass(factor), a[i], small(lda), x[i], small(ix), pass(old), y[i],
        small(iy));
  });
}

template <class T, class F>
cublasStatus_t trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,
                    cublasDiagType_t diag, i64 m, i64 n, const T* alpha, const T* const* a, i64 lda, T* const* b,
                    i64 ldb, i64 count, F f) {
  const i64 size = side == CUBLAS_SIDE_LEFT ? m : n;
  const bool right = m >= 0 && n >= 0 && lda >= least(size) && ldb >= least(m) && alpha && count >= 0;
  if (const auto r = state(h, right, fit(m, n, lda, ldb)); r != kSuccess || !m || !n || !count) return r;
  Touched t;
  pointers(t, by(a), count), pointers(t, by(b), count);
  return submit(h, t, [=, p = Scalar<T>(h, alpha)] {
    const T factor = p.get();
    for (i64 i = 0; i < count; ++i)
      f(kColumns, of(side), of(uplo), of(op), of(diag), small(m), small(n), pass(factor), a[i], small(lda), b[i],
        small(ldb));
  });
}

// LU of an n x n matrix in place, by rows exchanged if there are `pivots` (counted from 1). The first pivot that is
// zero, counted from 1, or 0.
template <class T>
int factor(i64 n, T* a, i64 lda, int* pivots) {
  int zero = 0;
  for (i64 k = 0; k < n; ++k) {
    i64 best = k;
    for (i64 i = k + 1; pivots && i < n; ++i)
      if (std::abs(number(a[k * lda + i])) > std::abs(number(a[k * lda + best]))) best = i;
    if (pivots) pivots[k] = small(best + 1);
    if (best != k)
      for (i64 j = 0; j < n; ++j) std::swap(a[j * lda + k], a[j * lda + best]);
    const auto pivot = number(a[k * lda + k]);
    if (pivot == decltype(pivot){}) {
      if (!zero) zero = small(k + 1);
      continue;
    }
    for (i64 i = k + 1; i < n; ++i) put(a[k * lda + i], number(a[k * lda + i]) / pivot);
    for (i64 j = k + 1; j < n; ++j) {
      const auto top = number(a[j * lda + k]);
      for (i64 i = k + 1; i < n; ++i) put(a[j * lda + i], number(a[j * lda + i]) - number(a[k * lda + i]) * top);
    }
  }
  return zero;
}

template <class T>
void exchange(T* b, const int* pivots, i64 n, bool forwards) {
  for (i64 i = 0; pivots && i < n; ++i) {
    const i64 k = forwards ? i : n - 1 - i;
    if (pivots[k] - 1 != k) std::swap(b[k], b[pivots[k] - 1]);
  }
}

// op(a) x = b for one column, in its place; a holds the factors.
template <class T>
void solve(cublasOperation_t op, i64 n, const T* a, i64 lda, const int* pivots, T* b) {
  const auto entry = [=](i64 i, i64 j) {
    const auto v = number(op == CUBLAS_OP_N ? a[j * lda + i] : a[i * lda + j]);
    return op == CUBLAS_OP_C ? conjugate(v) : v;
  };
  const bool plain = op == CUBLAS_OP_N;
  if (plain) exchange(b, pivots, n, true);
  for (i64 i = 0; i < n; ++i) {  // below: unit diagonal if it is the first factor
    auto v = number(b[i]);
    for (i64 j = 0; j < i; ++j) v -= entry(i, j) * number(b[j]);
    put(b[i], plain ? v : v / entry(i, i));
  }
  for (i64 i = n - 1; i >= 0; --i) {
    auto v = number(b[i]);
    for (i64 j = i + 1; j < n; ++j) v -= entry(i, j) * number(b[j]);
    put(b[i], plain ? v / entry(i, i) : v);
  }
  if (!plain) exchange(b, pivots, n, false);
}

template <class T>
bool singular(i64 n, const T* a, i64 lda, int* where) {
  for (i64 k = 0; k < n; ++k)
    if (const auto v = number(a[k * lda + k]); v == decltype(v){}) return *where = small(k + 1), true;
  return *where = 0, false;
}

template <class T>
void invert(i64 n, const T* a, i64 lda, const int* pivots, T* c, i64 ldc) {
  for (i64 j = 0; j < n; ++j) {
    for (i64 i = 0; i < n; ++i) put(c[j * ldc + i], decltype(number(*a)){i == j ? 1.0f : 0.0f});
    solve(CUBLAS_OP_N, n, a, lda, pivots, c + j * ldc);
  }
}

template <class T>
cublasStatus_t getrf(cublasHandle_t h, i64 n, T* const* a, i64 lda, int* pivots, int* info, i64 count) {
  const bool right = n >= 0 && lda >= least(n) && count >= 0 && (!count || (a && info));
  if (const auto r = state(h, right, true); r != kSuccess || !count) return r;
  Touched t;
  pointers(t, by(a), count), t.vector(info, count, 1, sizeof(int), true);
  if (pivots) t.vector(pivots, n * count, 1, sizeof(int), true);
  return submit(h, t, [=] {
    for (i64 i = 0; i < count; ++i) info[i] = factor(n, a[i], lda, pivots ? pivots + i * n : nullptr);
  });
}

template <class T>
cublasStatus_t getri(cublasHandle_t h, i64 n, const T* const* a, i64 lda, const int* pivots, T* const* c, i64 ldc,
                     int* info, i64 count) {
  const bool right = n >= 0 && lda >= least(n) && ldc >= least(n) && count >= 0 && (!count || (a && c && info));
  if (const auto r = state(h, right, true); r != kSuccess || !count) return r;
  Touched t;
  pointers(t, by(a), count), pointers(t, by(c), count), t.vector(info, count, 1, sizeof(int), true);
  if (pivots) t.vector(pivots, n * count, 1, sizeof(int), false);
  return submit(h, t, [=] {
    for (i64 i = 0; i < count; ++i)
      if (!singular(n, a[i], lda, info + i)) invert(n, a[i], lda, pivots ? pivots + i * n : nullptr, c[i], ldc);
  });
}

template <class T>
cublasStatus_t getrs(cublasHandle_t h, cublasOperation_t op, i64 n, i64 columns, const T* const* a, i64 lda,
                     const int* pivots, T* const* b, i64 ldb, int* info, i64 count) {
  // `info` is the host's: which argument is wrong.
  const int wrong = n < 0            ? -2
                    : columns < 0    ? -3
                    : !a             ? -4
                    : lda < least(n) ? -5
                    : !b             ? -7
                    : ldb < least(n) ? -8
                    : count < 0      ? -10
                                     : 0;
  if (info) *info = wrong;
  if (const auto r = state(h, info && !wrong, true); r != kSuccess || !count) return r;
  Touched t;
  pointers(t, by(a), count), pointers(t, by(b), count);
  if (pivots) t.vector(pivots, n * count, 1, sizeof(int), false);
  return submit(h, t, [=] {
    for (i64 i = 0; i < count; ++i)
      for (i64 j = 0; j < columns; ++j) solve(op, n, a[i], lda, pivots ? pivots + i * n : nullptr, b[i] + j * ldb);
  });
}

template <class T>
cublasStatus_t matinv(cublasHandle_t h, i64 n, const T* const* a, i64 lda, T* const* c, i64 ldc, int* info, i64 count) {
  const bool right =
      n >= 0 && n <= 32 && lda >= least(n) && ldc >= least(n) && count >= 0 && (!count || (a && c && info));
  if (const auto r = state(h, right, true); r != kSuccess || !count) return r;
  Touched t;
  pointers(t, by(a), count), pointers(t, by(c), count), t.vector(info, count, 1, sizeof(int), true);
  return submit(h, t, [=] {
    std::vector<T> copy(static_cast<size_t>(n * n));
    int order[32];
    for (i64 i = 0; i < count; ++i) {
      for (i64 j = 0; j < n; ++j) std::copy_n(a[i] + j * lda, n, copy.data() + j * n);
      info[i] = factor(n, copy.data(), n, order);
      if (!info[i]) invert(n, copy.data(), n, order, c[i], ldc);
    }
  });
}

}  // namespace

#define US_SIZES(L, low, T, I, V2)                                                                                     \
  US_API cublasStatus_t cublas##L##gemvBatched##V2(cublasHandle_t h, cublasOperation_t op, I m, I n, const T* alpha,   \
                                                   const T* const a[], I lda, const T* const x[], I ix, const T* beta, \
                                                   T* const y[], I iy, I count) {                                      \
    return gemv<T>(h, op, m, n, alpha, by(a), lda, by(x), ix, beta, by(y), iy, count, cblas_##low##gemv);              \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##gemvStridedBatched##V2(                                                             \
      cublasHandle_t h, cublasOperation_t op, I m, I n, const T* alpha, const T* a, I lda, long long sa, const T* x,   \
      I ix, long long sx, const T* beta, T* y, I iy, long long sy, I count) {                                          \
    return gemv<T>(h, op, m, n, alpha, by(a, sa), lda, by(x, sx), ix, beta, by(y, sy), iy, count, cblas_##low##gemv);  \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##trsmBatched##V2(                                                                    \
      cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag,     \
      I m, I n, const T* alpha, const T* const a[], I lda, T* const b[], I ldb, I count) {                             \
    return trsm(h, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb, count, cblas_##low##trsm);                       \
  }
#define US_EACH(L, low, T)                                                                                             \
  US_SIZES(L, low, T, int, )                                                                                           \
  US_SIZES(L, low, T, i64, _64)                                                                                        \
  US_API cublasStatus_t cublas##L##getrfBatched(cublasHandle_t h, int n, T* const a[], int lda, int* pivots,           \
                                                int* info, int count) {                                                \
    return getrf(h, n, a, lda, pivots, info, count);                                                                   \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##getriBatched(cublasHandle_t h, int n, const T* const a[], int lda,                  \
                                                const int* pivots, T* const c[], int ldc, int* info, int count) {      \
    return getri(h, n, a, lda, pivots, c, ldc, info, count);                                                           \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##getrsBatched(cublasHandle_t h, cublasOperation_t op, int n, int columns,            \
                                                const T* const a[], int lda, const int* pivots, T* const b[], int ldb, \
                                                int* info, int count) {                                                \
    return getrs(h, op, n, columns, a, lda, pivots, b, ldb, info, count);                                              \
  }                                                                                                                    \
  US_API cublasStatus_t cublas##L##matinvBatched(cublasHandle_t h, int n, const T* const a[], int lda, T* const c[],   \
                                                 int ldc, int* info, int count) {                                      \
    return matinv(h, n, a, lda, c, ldc, info, count);                                                                  \
  }
US_EACH(S, s, float)
US_EACH(D, d, double)
US_EACH(C, c, cuComplex)
US_EACH(Z, z, cuDoubleComplex)
