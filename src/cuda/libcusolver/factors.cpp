// SPDX-License-Identifier: Apache-2.0
// Factors (Cholesky, LU, of symmetric matrices), what they solve, and inverses.
#include "cuda/libcusolver/solver.h"

using namespace us::cusolver;

namespace {

// A triangle of a square matrix, in its place.
template <class T>
cusolverStatus_t triangle(Function f, cusolverDnHandle_t h, cublasFillMode_t uplo, i64 n, T* a, i64 lda, int* info) {
  if (const auto r = state(h, holds(n, n, lda) && info && (a || !n), n, lda); r != kSuccess) return r;
  Touched t;
  t.triangle(a, n, lda, sizeof(T), uplo == CUBLAS_FILL_MODE_UPPER, true);
  return submit(h, t, info, [=] { return solve(f, letter(uplo), n, a, lda); });
}

template <class T>
cusolverStatus_t potrs_of(cusolverDnHandle_t h, cublasFillMode_t uplo, i64 n, i64 columns, const T* a, i64 lda, T* b,
                          i64 ldb, int* info) {
  const bool right = holds(n, n, lda) && holds(n, columns, ldb) && info;
  if (const auto r = state(h, right, n, columns, lda, ldb); r != kSuccess) return r;
  Touched t;
  t.triangle(a, n, lda, sizeof(T), uplo == CUBLAS_FILL_MODE_UPPER, false),
      t.matrix(b, n, columns, ldb, sizeof(T), true);
  return submit(h, t, info, [=] { return solve(potrs<T>, letter(uplo), n, columns, a, lda, b, ldb); });
}

template <class T>
cusolverStatus_t trtri_of(cusolverDnHandle_t h, cublasFillMode_t uplo, cublasDiagType_t diag, i64 n, T* a, i64 lda,
                          int* info) {
  if (const auto r = state(h, holds(n, n, lda) && info, n, lda); r != kSuccess) return r;
  Touched t;
  t.triangle(a, n, lda, sizeof(T), uplo == CUBLAS_FILL_MODE_UPPER, true);
  return submit(h, t, info, [=] { return solve(trtri<T>, letter(uplo), letter(diag), n, a, lda); });
}

// Arrays of pointers lie on the device.
template <class T>
cusolverStatus_t potrf_batched(cusolverDnHandle_t h, cublasFillMode_t uplo, i64 n, T* const* a, i64 lda, int* info,
                               i64 count) {
  const bool right = holds(n, n, lda) && count >= 0 && (!count || (a && info));
  if (const auto r = state(h, right, n, lda); r != kSuccess || !count) return r;
  Touched t;
  t.vector(a, count, 1, sizeof(T*), false), t.vector(info, count, 1, sizeof(int), true);
  return submit(h, t, nullptr, [=] {
    for (i64 i = 0; i < count; ++i) info[i] = solve(potrf<T>, letter(uplo), n, a[i], lda);
    return 0;
  });
}
template <class T>
cusolverStatus_t potrs_batched(cusolverDnHandle_t h, cublasFillMode_t uplo, i64 n, i64 columns, T* const* a, i64 lda,
                               T* const* b, i64 ldb, int* info, i64 count) {
  const bool right = holds(n, n, lda) && holds(n, columns, ldb) && count >= 0 && (!count || (a && b && info));
  if (const auto r = state(h, right, n, columns, lda, ldb); r != kSuccess || !count) return r;
  Touched t;
  t.vector(a, count, 1, sizeof(T*), false), t.vector(b, count, 1, sizeof(T*), false);
  return submit(h, t, info, [=] {
    int wrong = 0;
    for (i64 i = 0; i < count && !wrong; ++i) wrong = solve(potrs<T>, letter(uplo), n, columns, a[i], lda, b[i], ldb);
    return wrong;
  });
}

// LU without exchanges. The first pivot that is zero, counted from 1, or 0.
template <class T>
int plain_getrf(i64 m, i64 n, T* a, i64 lda) {
  int zero = 0;
  for (i64 k = 0; k < std::min(m, n); ++k) {
    const T pivot = a[k * lda + k];
    if (pivot == T{}) {
      if (!zero) zero = narrow(k + 1);
      continue;
    }
    for (i64 i = k + 1; i < m; ++i) a[k * lda + i] /= pivot;
    for (i64 j = k + 1; j < n; ++j)
      for (i64 i = k + 1; i < m; ++i) a[j * lda + i] -= a[k * lda + i] * a[j * lda + k];
  }
  return zero;
}

// P: the type of pivots.
template <class T, class P>
cusolverStatus_t getrf_of(cusolverDnHandle_t h, i64 m, i64 n, T* a, i64 lda, P* pivots, int* info) {
  if (const auto r = state(h, holds(m, n, lda) && info && (a || !m || !n), m, n, lda); r != kSuccess) return r;
  Touched t;
  t.matrix(a, m, n, lda, sizeof(T), true);
  if (pivots) t.vector(pivots, std::min(m, n), 1, sizeof(P), true);
  return submit(h, t, info, [=] {
    if (!pivots) return plain_getrf(m, n, a, lda);
    std::vector<int> order(static_cast<size_t>(std::min(m, n)));
    const int r = solve(getrf<T>, m, n, a, lda, order.data());
    std::copy(order.begin(), order.end(), pivots);
    return r;
  });
}

template <class T, class P>
cusolverStatus_t getrs_of(cusolverDnHandle_t h, cublasOperation_t op, i64 n, i64 columns, const T* a, i64 lda,
                          const P* pivots, T* b, i64 ldb, int* info) {
  const bool right = holds(n, n, lda) && holds(n, columns, ldb) && info;
  if (const auto r = state(h, right, n, columns, lda, ldb); r != kSuccess) return r;
  Touched t;
  t.matrix(a, n, n, lda, sizeof(T), false), t.matrix(b, n, columns, ldb, sizeof(T), true);
  if (pivots) t.vector(pivots, n, 1, sizeof(P), false);
  return submit(h, t, info, [=] {
    std::vector<int> order(static_cast<size_t>(n));
    for (i64 i = 0; i < n; ++i) order[static_cast<size_t>(i)] = narrow(pivots ? i64{pivots[i]} : i + 1);
    return solve(getrs<T>, letter(op), n, columns, a, lda, order.data(), b, ldb);
  });
}

template <class T>
cusolverStatus_t laswp_of(cusolverDnHandle_t h, i64 n, T* a, i64 lda, i64 first, i64 last, const int* pivots,
                          i64 step) {
  if (const auto r = state(h, n >= 0 && lda >= 1 && pivots && first >= 1 && last >= first); r != kSuccess) return r;
  Touched t;
  t.vector(pivots, last, step, sizeof(int), false), t.matrix(a, last, n, lda, sizeof(T), true);
  return submit(h, t, nullptr, [=] {
    call(laswp<T>, n, a, lda, first, last, pivots, step);
    return 0;
  });
}

template <class T>
cusolverStatus_t sytrf_of(cusolverDnHandle_t h, cublasFillMode_t uplo, i64 n, T* a, i64 lda, int* pivots, int* info) {
  if (const auto r = state(h, holds(n, n, lda) && info && pivots, n, lda); r != kSuccess) return r;
  Touched t;
  t.triangle(a, n, lda, sizeof(T), uplo == CUBLAS_FILL_MODE_UPPER, true), t.vector(pivots, n, 1, sizeof(int), true);
  return submit(h, t, info, [=] { return solve_with_work<T>(sytrf<T>, letter(uplo), n, a, lda, pivots); });
}
template <class T>
cusolverStatus_t sytri_of(cusolverDnHandle_t h, cublasFillMode_t uplo, i64 n, T* a, i64 lda, const int* pivots,
                          int* info) {
  if (const auto r = state(h, holds(n, n, lda) && info && pivots, n, lda); r != kSuccess) return r;
  Touched t;
  t.triangle(a, n, lda, sizeof(T), uplo == CUBLAS_FILL_MODE_UPPER, true), t.vector(pivots, n, 1, sizeof(int), false);
  return submit(h, t, info, [=] {
    std::vector<T> work(static_cast<size_t>(2 * at_least_one(n)));
    return solve(sytri<T>, letter(uplo), n, a, lda, pivots, work.data());
  });
}
template <class T>
cusolverStatus_t sytrs_of(cusolverDnHandle_t h, cublasFillMode_t uplo, i64 n, i64 columns, const T* a, i64 lda,
                          const i64* pivots, T* b, i64 ldb, int* info) {
  const bool right = holds(n, n, lda) && holds(n, columns, ldb) && info && pivots;
  if (const auto r = state(h, right, n, columns, lda, ldb); r != kSuccess) return r;
  Touched t;
  t.triangle(a, n, lda, sizeof(T), uplo == CUBLAS_FILL_MODE_UPPER, false),
      t.matrix(b, n, columns, ldb, sizeof(T), true);
  t.vector(pivots, n, 1, sizeof(i64), false);
  return submit(h, t, info, [=] {
    const std::vector<int> order(pivots, pivots + n);
    return solve(sytrs<T>, letter(uplo), n, columns, a, lda, order.data(), b, ldb);
  });
}

}  // namespace

#define US_SQUARE cusolverDnHandle_t h, [[maybe_unused]] cublasFillMode_t uplo, int n
#define US_IN_PLACE(L, T, name)                                                                \
  US_DN(L##name##_bufferSize)(US_SQUARE, T*, int lda, int* n_work) { return size(h, n_work); } \
  US_DN(L##name)(US_SQUARE, T * a, int lda, T*, int, int* info) {                              \
    return triangle(name<Spelt<T>::type>, h, uplo, n, own(a), lda, info);                      \
  }
#define US_FACTORS(L, T, R, sy, un)                                                                                    \
  US_IN_PLACE(L, T, potrf)                                                                                             \
  US_IN_PLACE(L, T, potri)                                                                                             \
  US_IN_PLACE(L, T, lauum)                                                                                             \
  US_DN(L##potrs)(US_SQUARE, int columns, const T* a, int lda, T* b, int ldb, int* info) {                             \
    return potrs_of(h, uplo, n, columns, own(a), lda, own(b), ldb, info);                                              \
  }                                                                                                                    \
  US_DN(L##potrfBatched)(US_SQUARE, T * a[], int lda, int* info, int count) {                                          \
    return potrf_batched(h, uplo, n, own(a), lda, info, count);                                                        \
  }                                                                                                                    \
  US_DN(L##potrsBatched)(US_SQUARE, int columns, T* a[], int lda, T* b[], int ldb, int* info, int count) {             \
    return potrs_batched(h, uplo, n, columns, own(a), lda, own(b), ldb, info, count);                                  \
  }                                                                                                                    \
  US_DN(L##getrf_bufferSize)(cusolverDnHandle_t h, int m, int n, T*, int lda, int* n_work) { return size(h, n_work); } \
  US_DN(L##getrf)(cusolverDnHandle_t h, int m, int n, T* a, int lda, T*, int* pivots, int* info) {                     \
    return getrf_of(h, m, n, own(a), lda, pivots, info);                                                               \
  }                                                                                                                    \
  US_DN(L##getrs)                                                                                                      \
  (cusolverDnHandle_t h, cublasOperation_t op, int n, int columns, const T* a, int lda, const int* pivots, T* b,       \
   int ldb, int* info) {                                                                                               \
    return getrs_of(h, op, n, columns, own(a), lda, pivots, own(b), ldb, info);                                        \
  }                                                                                                                    \
  US_DN(L##laswp)(cusolverDnHandle_t h, int n, T* a, int lda, int first, int last, const int* pivots, int step) {      \
    return laswp_of(h, n, own(a), lda, first, last, pivots, step);                                                     \
  }                                                                                                                    \
  US_DN(L##sytrf_bufferSize)(cusolverDnHandle_t h, int n, T*, int lda, int* n_work) { return size(h, n_work); }        \
  US_DN(L##sytrf)(US_SQUARE, T * a, int lda, int* pivots, T*, int, int* info) {                                        \
    return sytrf_of(h, uplo, n, own(a), lda, pivots, info);                                                            \
  }                                                                                                                    \
  US_DN(L##sytri_bufferSize)(US_SQUARE, T*, int lda, const int*, int* n_work) { return size(h, n_work); }              \
  US_DN(L##sytri)(US_SQUARE, T * a, int lda, const int* pivots, T*, int, int* info) {                                  \
    return sytri_of(h, uplo, n, own(a), lda, pivots, info);                                                            \
  }
US_TYPES(US_FACTORS)

#define US_BUFFERS void*, size_t, void*, size_t
#define US_SIZES size_t *device, size_t *host
US_DN(Xpotrf_bufferSize)
(cusolverDnHandle_t h, cusolverDnParams_t, cublasFillMode_t, i64 n, cudaDataType, const void*, i64 lda, cudaDataType,
 US_SIZES) {
  return size(h, device, host);
}
US_DN(Xpotrf)
(cusolverDnHandle_t h, cusolverDnParams_t, cublasFillMode_t uplo, i64 n, cudaDataType type, void* a, i64 lda,
 cudaDataType, US_BUFFERS, int* info) {
  return with_type(type, [&]<class T>(T) { return triangle(potrf<T>, h, uplo, n, cast<T>(a), lda, info); });
}
US_DN(Xpotrs)
(cusolverDnHandle_t h, cusolverDnParams_t, cublasFillMode_t uplo, i64 n, i64 columns, cudaDataType type, const void* a,
 i64 lda, cudaDataType, void* b, i64 ldb, int* info) {
  return with_type(type,
                   [&]<class T>(T) { return potrs_of(h, uplo, n, columns, cast<T>(a), lda, cast<T>(b), ldb, info); });
}
US_DN(Xtrtri_bufferSize)
(cusolverDnHandle_t h, cublasFillMode_t, cublasDiagType_t, i64 n, cudaDataType, void*, i64 lda, US_SIZES) {
  return size(h, device, host);
}
US_DN(Xtrtri)
(cusolverDnHandle_t h, cublasFillMode_t uplo, cublasDiagType_t diag, i64 n, cudaDataType type, void* a, i64 lda,
 US_BUFFERS, int* info) {
  return with_type(type, [&]<class T>(T) { return trtri_of(h, uplo, diag, n, cast<T>(a), lda, info); });
}
US_DN(Xgetrf_bufferSize)
(cusolverDnHandle_t h, cusolverDnParams_t, i64 m, i64 n, cudaDataType, const void*, i64 lda, cudaDataType, US_SIZES) {
  return size(h, device, host);
}
US_DN(Xgetrf)
(cusolverDnHandle_t h, cusolverDnParams_t, i64 m, i64 n, cudaDataType type, void* a, i64 lda, i64* pivots, cudaDataType,
 US_BUFFERS, int* info) {
  return with_type(type, [&]<class T>(T) { return getrf_of(h, m, n, cast<T>(a), lda, pivots, info); });
}
US_DN(Xgetrs)
(cusolverDnHandle_t h, cusolverDnParams_t, cublasOperation_t op, i64 n, i64 columns, cudaDataType type, const void* a,
 i64 lda, const i64* pivots, cudaDataType, void* b, i64 ldb, int* info) {
  return with_type(
      type, [&]<class T>(T) { return getrs_of(h, op, n, columns, cast<T>(a), lda, pivots, cast<T>(b), ldb, info); });
}
US_DN(Xsytrs_bufferSize)
(cusolverDnHandle_t h, cublasFillMode_t, i64 n, i64 columns, cudaDataType, const void*, i64 lda, const i64*,
 cudaDataType, void*, i64 ldb, US_SIZES) {
  return size(h, device, host);
}
US_DN(Xsytrs)
(cusolverDnHandle_t h, cublasFillMode_t uplo, i64 n, i64 columns, cudaDataType type, const void* a, i64 lda,
 const i64* pivots, cudaDataType, void* b, i64 ldb, US_BUFFERS, int* info) {
  return with_type(
      type, [&]<class T>(T) { return sytrs_of(h, uplo, n, columns, cast<T>(a), lda, pivots, cast<T>(b), ldb, info); });
}
