// SPDX-License-Identifier: Apache-2.0
// Orthogonal (unitary) factors: QR, bidiagonal and tridiagonal forms, and what is made of them.
#include "cuda/libcusolver/solver.h"

using namespace us::cusolver;

namespace {

template <class T>
cusolverStatus_t geqrf_of(cusolverDnHandle_t h, i64 m, i64 n, T* a, i64 lda, T* tau, int* info) {
  if (const auto r = state(h, holds(m, n, lda), m, n, lda); r != kSuccess) return r;
  Touched t;
  t.matrix(a, m, n, lda, sizeof(T), true), t.vector(tau, std::min(m, n), 1, sizeof(T), true);
  return submit(h, t, info, [=] { return solve_with_work<T>(geqrf<T>, m, n, a, lda, tau); });
}

template <class T>
cusolverStatus_t orgqr_of(cusolverDnHandle_t h, i64 m, i64 n, i64 k, T* a, i64 lda, const T* tau, int* info) {
  const bool right = holds(m, n, lda) && n <= m && k >= 0 && k <= n && info;
  if (const auto r = state(h, right, m, n, lda); r != kSuccess) return r;
  Touched t;
  t.matrix(a, m, n, lda, sizeof(T), true), t.vector(tau, k, 1, sizeof(T), false);
  return submit(h, t, info, [=] { return solve_with_work<T>(orgqr<T>, m, n, k, a, lda, tau); });
}

// A real matrix has no other adjoint than its transpose, and LAPACK knows one of both names for a type.
template <class T>
char adjoint(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? 'N' : kComplex<T> ? 'C' : 'T';
}
template <class T>
bool knows(cublasOperation_t op) {
  return !kComplex<T> || op != CUBLAS_OP_T;
}

template <class T>
cusolverStatus_t ormqr_of(cusolverDnHandle_t h, cublasSideMode_t side, cublasOperation_t op, i64 m, i64 n, i64 k,
                          const T* a, i64 lda, const T* tau, T* c, i64 ldc, int* info) {
  const i64 rows = side == CUBLAS_SIDE_LEFT ? m : n;
  const bool right = holds(m, n, ldc) && holds(rows, k, lda) && k <= rows && info && knows<T>(op);
  if (const auto r = state(h, right, m, n, k, lda, ldc); r != kSuccess) return r;
  Touched t;
  t.matrix(a, rows, k, lda, sizeof(T), false), t.vector(tau, k, 1, sizeof(T), false);
  t.matrix(c, m, n, ldc, sizeof(T), true);
  return submit(h, t, info, [=] {
    return solve_with_work<T>(ormqr<T>, letter(side), adjoint<T>(op), m, n, k, a, lda, tau, c, ldc);
  });
}

template <class T>
cusolverStatus_t gebrd_of(cusolverDnHandle_t h, i64 m, i64 n, T* a, i64 lda, Real<T>* d, Real<T>* e, T* tau_q, T* tau_p,
                          int* info) {
  if (const auto r = state(h, holds(m, n, lda) && m >= n && info, m, n, lda); r != kSuccess) return r;
  Touched t;
  t.matrix(a, m, n, lda, sizeof(T), true), t.vector(d, n, 1, sizeof(*d), true), t.vector(e, n - 1, 1, sizeof(*e), true);
  t.vector(tau_q, n, 1, sizeof(T), true), t.vector(tau_p, n, 1, sizeof(T), true);
  return submit(h, t, info, [=] { return solve_with_work<T>(gebrd<T>, m, n, a, lda, d, e, tau_q, tau_p); });
}

template <class T>
cusolverStatus_t orgbr_of(cusolverDnHandle_t h, cublasSideMode_t side, i64 m, i64 n, i64 k, T* a, i64 lda, const T* tau,
                          int* info) {
  if (const auto r = state(h, holds(m, n, lda) && k >= 0 && info, m, n, k, lda); r != kSuccess) return r;
  const bool left = side == CUBLAS_SIDE_LEFT;
  Touched t;
  t.matrix(a, m, n, lda, sizeof(T), true), t.vector(tau, std::min(left ? m : n, k), 1, sizeof(T), false);
  return submit(h, t, info, [=] { return solve_with_work<T>(orgbr<T>, left ? 'Q' : 'P', m, n, k, a, lda, tau); });
}

template <class T>
cusolverStatus_t sytrd_of(cusolverDnHandle_t h, cublasFillMode_t uplo, i64 n, T* a, i64 lda, Real<T>* d, Real<T>* e,
                          T* tau, int* info) {
  if (const auto r = state(h, holds(n, n, lda) && info, n, lda); r != kSuccess) return r;
  Touched t;
  t.triangle(a, n, lda, sizeof(T), uplo == CUBLAS_FILL_MODE_UPPER, true), t.vector(d, n, 1, sizeof(*d), true);
  t.vector(e, n - 1, 1, sizeof(*e), true), t.vector(tau, n - 1, 1, sizeof(T), true);
  return submit(h, t, info, [=] { return solve_with_work<T>(sytrd<T>, letter(uplo), n, a, lda, d, e, tau); });
}

template <class T>
cusolverStatus_t orgtr_of(cusolverDnHandle_t h, cublasFillMode_t uplo, i64 n, T* a, i64 lda, const T* tau, int* info) {
  if (const auto r = state(h, holds(n, n, lda) && info, n, lda); r != kSuccess) return r;
  Touched t;
  t.matrix(a, n, n, lda, sizeof(T), true), t.vector(tau, n - 1, 1, sizeof(T), false);
  return submit(h, t, info, [=] { return solve_with_work<T>(orgtr<T>, letter(uplo), n, a, lda, tau); });
}

template <class T>
cusolverStatus_t ormtr_of(cusolverDnHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,
                          i64 m, i64 n, T* a, i64 lda, T* tau, T* c, i64 ldc, int* info) {
  const i64 size = side == CUBLAS_SIDE_LEFT ? m : n;
  const bool right = holds(m, n, ldc) && holds(size, size, lda) && info && knows<T>(op);
  if (const auto r = state(h, right, m, n, lda, ldc); r != kSuccess) return r;
  Touched t;
  t.triangle(a, size, lda, sizeof(T), uplo == CUBLAS_FILL_MODE_UPPER, false);
  t.vector(tau, size - 1, 1, sizeof(T), false), t.matrix(c, m, n, ldc, sizeof(T), true);
  return submit(h, t, info, [=] {
    return solve_with_work<T>(ormtr<T>, letter(side), letter(uplo), adjoint<T>(op), m, n, a, lda, tau, c, ldc);
  });
}

}  // namespace

#define US_ANY(L, T, R, sy, un)                                                                                        \
  US_DN(L##geqrf_bufferSize)(cusolverDnHandle_t h, int m, int n, T*, int lda, int* n_work) { return size(h, n_work); } \
  US_DN(L##geqrf)(cusolverDnHandle_t h, int m, int n, T* a, int lda, T* tau, T*, int, int* info) {                     \
    return geqrf_of(h, m, n, own(a), lda, own(tau), info);                                                             \
  }                                                                                                                    \
  US_DN(L##un##gqr_bufferSize)(cusolverDnHandle_t h, int m, int n, int k, const T*, int lda, const T*, int* n_work) {  \
    return size(h, n_work);                                                                                            \
  }                                                                                                                    \
  US_DN(L##un##gqr)(cusolverDnHandle_t h, int m, int n, int k, T* a, int lda, const T* tau, T*, int, int* info) {      \
    return orgqr_of(h, m, n, k, own(a), lda, own(tau), info);                                                          \
  }                                                                                                                    \
  US_DN(L##un##mqr_bufferSize)                                                                                         \
  (cusolverDnHandle_t h, cublasSideMode_t, cublasOperation_t, int m, int n, int k, const T*, int, const T*, const T*,  \
   int ldc, int* n_work) {                                                                                             \
    return size(h, n_work);                                                                                            \
  }                                                                                                                    \
  US_DN(L##un##mqr)                                                                                                    \
  (cusolverDnHandle_t h, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const T* a, int lda,        \
   const T* tau, T* c, int ldc, T*, int, int* info) {                                                                  \
    return ormqr_of(h, side, op, m, n, k, own(a), lda, own(tau), own(c), ldc, info);                                   \
  }                                                                                                                    \
  US_DN(L##gebrd_bufferSize)(cusolverDnHandle_t h, int m, int n, int* n_work) { return size(h, n_work); }              \
  US_DN(L##gebrd)                                                                                                      \
  (cusolverDnHandle_t h, int m, int n, T* a, int lda, R* d, R* e, T* tau_q, T* tau_p, T*, int, int* info) {            \
    return gebrd_of(h, m, n, own(a), lda, d, e, own(tau_q), own(tau_p), info);                                         \
  }                                                                                                                    \
  US_DN(L##un##gbr_bufferSize)                                                                                         \
  (cusolverDnHandle_t h, cublasSideMode_t, int m, int n, int k, const T*, int lda, const T*, int* n_work) {            \
    return size(h, n_work);                                                                                            \
  }                                                                                                                    \
  US_DN(L##un##gbr)                                                                                                    \
  (cusolverDnHandle_t h, cublasSideMode_t side, int m, int n, int k, T* a, int lda, const T* tau, T*, int,             \
   int* info) {                                                                                                        \
    return orgbr_of(h, side, m, n, k, own(a), lda, own(tau), info);                                                    \
  }                                                                                                                    \
  US_DN(L##sy##trd_bufferSize)                                                                                         \
  (cusolverDnHandle_t h, cublasFillMode_t, int n, const T*, int lda, const R*, const R*, const T*, int* n_work) {      \
    return size(h, n_work);                                                                                            \
  }                                                                                                                    \
  US_DN(L##sy##trd)                                                                                                    \
  (cusolverDnHandle_t h, cublasFillMode_t uplo, int n, T* a, int lda, R* d, R* e, T* tau, T*, int, int* info) {        \
    return sytrd_of(h, uplo, n, own(a), lda, d, e, own(tau), info);                                                    \
  }                                                                                                                    \
  US_DN(L##un##gtr_bufferSize)                                                                                         \
  (cusolverDnHandle_t h, cublasFillMode_t, int n, const T*, int lda, const T*, int* n_work) {                          \
    return size(h, n_work);                                                                                            \
  }                                                                                                                    \
  US_DN(L##un##gtr)                                                                                                    \
  (cusolverDnHandle_t h, cublasFillMode_t uplo, int n, T* a, int lda, const T* tau, T*, int, int* info) {              \
    return orgtr_of(h, uplo, n, own(a), lda, own(tau), info);                                                          \
  }                                                                                                                    \
  US_DN(L##un##mtr_bufferSize)                                                                                         \
  (cusolverDnHandle_t h, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, int m, int n, const T*, int, const T*, \
   const T*, int ldc, int* n_work) {                                                                                   \
    return size(h, n_work);                                                                                            \
  }                                                                                                                    \
  US_DN(L##un##mtr)                                                                                                    \
  (cusolverDnHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, int m, int n, T* a,       \
   int lda, T* tau, T* c, int ldc, T*, int, int* info) {                                                               \
    return ormtr_of(h, side, uplo, op, m, n, own(a), lda, own(tau), own(c), ldc, info);                                \
  }
US_TYPES(US_ANY)

US_DN(Xgeqrf_bufferSize)
(cusolverDnHandle_t h, cusolverDnParams_t, i64 m, i64 n, cudaDataType, const void*, i64 lda, cudaDataType, const void*,
 cudaDataType, size_t* device, size_t* host) {
  return size(h, device, host);
}
US_DN(Xgeqrf)
(cusolverDnHandle_t h, cusolverDnParams_t, i64 m, i64 n, cudaDataType type, void* a, i64 lda, cudaDataType, void* tau,
 cudaDataType, void*, size_t, void*, size_t, int* info) {
  return with_type(type, [&]<class T>(T) { return geqrf_of(h, m, n, cast<T>(a), lda, cast<T>(tau), info); });
}
