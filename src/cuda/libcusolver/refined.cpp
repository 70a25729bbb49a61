// SPDX-License-Identifier: Apache-2.0
// Solutions that a device refines from factors of fewer bits; here the factors have all bits, and nothing is refined.
#include "cuda/libcusolver/solver.h"

using namespace us::cusolver;

namespace {

template <class T>
std::vector<T> copied(const T* a, i64 rows, i64 columns, i64 ld, i64 own_rows) {
  std::vector<T> copy(static_cast<size_t>(at_least_one(own_rows * columns)));
  for (i64 j = 0; j < columns; ++j) std::copy_n(a + j * ld, rows, copy.data() + j * own_rows);
  return copy;
}
template <class T>
void put(const std::vector<T>& from, i64 own_rows, T* x, i64 rows, i64 columns, i64 ld) {
  for (i64 j = 0; j < columns; ++j) std::copy_n(from.data() + j * own_rows, rows, x + j * ld);
}

template <class T>
cusolverStatus_t gesv(cusolverDnHandle_t h, i64 n, i64 columns, T* a, i64 lda, int* pivots, T* b, i64 ldb, T* x,
                      i64 ldx, int* rounds, int* info) {
  const bool right = holds(n, n, lda) && holds(n, columns, ldb) && holds(n, columns, ldx) && rounds && info;
  if (const auto r = state(h, right); r != kSuccess) return r;
  Touched t;
  t.matrix(a, n, n, lda, sizeof(T), false), t.matrix(b, n, columns, ldb, sizeof(T), false);
  t.matrix(x, n, columns, ldx, sizeof(T), true);
  if (pivots) t.vector(pivots, n, 1, sizeof(int), true);
  *rounds = 0;
  return wait(h, submit(h, t, info, [=] {
                auto factors = copied(a, n, n, lda, n), y = copied(b, n, columns, ldb, n);
                std::vector<int> order(static_cast<size_t>(at_least_one(n)));
                const i64 ld = at_least_one(n);
                int r = solve(getrf<T>, n, n, factors.data(), ld, order.data());
                if (!r) r = solve(getrs<T>, 'N', n, columns, factors.data(), ld, order.data(), y.data(), ld);
                if (pivots) std::copy_n(order.data(), n, pivots);
                if (!r) put(y, n, x, n, columns, ldx);
                return r;
              }));
}

template <class T>
cusolverStatus_t gels_of(cusolverDnHandle_t h, i64 m, i64 n, i64 columns, T* a, i64 lda, T* b, i64 ldb, T* x, i64 ldx,
                         int* rounds, int* info) {
  const bool right = holds(m, n, lda) && m >= n && holds(m, columns, ldb) && holds(n, columns, ldx) && rounds && info;
  if (const auto r = state(h, right); r != kSuccess) return r;
  Touched t;
  t.matrix(a, m, n, lda, sizeof(T), false), t.matrix(b, m, columns, ldb, sizeof(T), false);
  t.matrix(x, n, columns, ldx, sizeof(T), true);
  *rounds = 0;
  return wait(h, submit(h, t, info, [=] {
                auto factors = copied(a, m, n, lda, m), y = copied(b, m, columns, ldb, m);
                const i64 ld = at_least_one(m);
                const int r = solve_with_work<T>(gels<T>, 'N', m, n, columns, factors.data(), ld, y.data(), ld);
                if (!r) put(y, m, x, n, columns, ldx);
                return r;
              }));
}

cusolverStatus_t bytes(cusolverDnHandle_t h, bool right, size_t* to) {
  size_t none;
  const auto r = size(h, to, &none);
  return r == kSuccess && !right ? CUSOLVER_STATUS_INVALID_VALUE : r;
}

}  // namespace

#define US_REFINED(L, T)                                                                                              \
  US_DN(L##gesv_bufferSize)                                                                                           \
  (cusolverDnHandle_t h, int n, int columns, T*, int lda, int*, T*, int ldb, T*, int, void*, size_t* n_bytes) {       \
    return bytes(h, holds(n, n, lda) && holds(n, columns, ldb), n_bytes);                                             \
  }                                                                                                                   \
  US_DN(L##gesv)                                                                                                      \
  (cusolverDnHandle_t h, int n, int columns, T* a, int lda, int* pivots, T* b, int ldb, T* x, int ldx, void*, size_t, \
   int* rounds, int* info) {                                                                                          \
    return gesv(h, n, columns, own(a), lda, pivots, own(b), ldb, own(x), ldx, rounds, info);                          \
  }                                                                                                                   \
  US_DN(L##gels_bufferSize)                                                                                           \
  (cusolverDnHandle_t h, int m, int n, int columns, T*, int lda, T*, int ldb, T*, int, void*, size_t* n_bytes) {      \
    return bytes(h, holds(m, n, lda) && m >= n && holds(m, columns, ldb), n_bytes);                                   \
  }                                                                                                                   \
  US_DN(L##gels)                                                                                                      \
  (cusolverDnHandle_t h, int m, int n, int columns, T* a, int lda, T* b, int ldb, T* x, int ldx, void*, size_t,       \
   int* rounds, int* info) {                                                                                          \
    return gels_of(h, m, n, columns, own(a), lda, own(b), ldb, own(x), ldx, rounds, info);                            \
  }
US_REFINED(SS, float)
US_REFINED(SH, float)
US_REFINED(SB, float)
US_REFINED(SX, float)
US_REFINED(DD, double)
US_REFINED(DS, double)
US_REFINED(DH, double)
US_REFINED(DB, double)
US_REFINED(DX, double)
US_REFINED(CC, cuComplex)
US_REFINED(CK, cuComplex)
US_REFINED(CE, cuComplex)
US_REFINED(CY, cuComplex)
US_REFINED(ZZ, cuDoubleComplex)
US_REFINED(ZC, cuDoubleComplex)
US_REFINED(ZK, cuDoubleComplex)
US_REFINED(ZE, cuDoubleComplex)
US_REFINED(ZY, cuDoubleComplex)
