// SPDX-License-Identifier: Apache-2.0
// Singular values and vectors.
#include "cuda/libcusolver/solver.h"

using namespace us::cusolver;

namespace {

// a = u s vt; letters say how much of u and vt is wanted: 'A'll, 'S'ome, 'O'ver a, 'N'one.
template <class T>
int svd(char want_u, char want_vt, i64 m, i64 n, T* a, i64 lda, Real<T>* s, T* u, i64 ldu, T* vt, i64 ldvt) {
  std::vector<Real<T>> reals(kComplex<T> ? static_cast<size_t>(5 * at_least_one(std::min(m, n))) : 0);
  T size{};
  const auto run = [&](T* work, i64 n_work) {
    if constexpr (kComplex<T>)
      return solve(gesvd<T>, want_u, want_vt, m, n, a, lda, s, u, ldu, vt, ldvt, work, n_work, reals.data());
    else
      return solve(gesvd<T>, want_u, want_vt, m, n, a, lda, s, u, ldu, vt, ldvt, work, n_work);
  };
  if (const int wrong = run(&size, -1)) return wrong;
  std::vector<T> work(static_cast<size_t>(std::max<Real<T>>(1, std::real(size))));
  return run(work.data(), static_cast<i64>(work.size()));
}

bool known(char want) { return want == 'A' || want == 'S' || want == 'O' || want == 'N'; }

template <class T>
cusolverStatus_t gesvd_of(cusolverDnHandle_t h, char want_u, char want_vt, i64 m, i64 n, T* a, i64 lda, Real<T>* s,
                          T* u, i64 ldu, T* vt, i64 ldvt, int* info) {
  const i64 least = std::min(m, n), columns = want_u == 'A' ? m : least, rows = want_vt == 'A' ? n : least;
  const bool with_u = want_u == 'A' || want_u == 'S', with_vt = want_vt == 'A' || want_vt == 'S';
  const bool right = holds(m, n, lda) && m >= n && info && known(want_u) && known(want_vt) &&
                     !(want_u == 'O' && want_vt == 'O') && (!with_u || ldu >= at_least_one(m)) &&
                     (!with_vt || ldvt >= at_least_one(rows));
  if (const auto r = state(h, right, m, n, lda, ldu, ldvt); r != kSuccess) return r;
  Touched t;
  t.matrix(a, m, n, lda, sizeof(T), true), t.vector(s, least, 1, sizeof(*s), true);
  if (with_u) t.matrix(u, m, columns, ldu, sizeof(T), true);
  if (with_vt) t.matrix(vt, rows, n, ldvt, sizeof(T), true);
  return submit(h, t, info,
                [=] { return svd(want_u, want_vt, m, n, a, lda, s, u, at_least_one(ldu), vt, at_least_one(ldvt)); });
}

// One matrix among `count`, and where its parts are. `rank`: how many singular values and vectors are wanted.
template <class T>
struct Parts {
  T* a;
  i64 lda, step_a;
  Real<T>* s;
  i64 step_s;
  T* u;
  i64 ldu, step_u;
  T* v;
  i64 ldv, step_v;
};
template <class T>
int svd_with_v(bool with_u, bool with_v, i64 m, i64 n, i64 rank_u, i64 rank_v, i64 rank, const Parts<T>& p, i64 i) {
  const i64 least = std::min(m, n), all_u = rank_u > least ? m : least, all_v = rank_v > least ? n : least;
  const auto whole = [](i64 x) { return static_cast<size_t>(at_least_one(x)); };
  std::vector<T> copy(whole(m * n)), u(with_u ? whole(m * all_u) : 1), vt(with_v ? whole(all_v * n) : 1);
  std::vector<Real<T>> s(whole(least));
  for (i64 j = 0; j < n; ++j) std::copy_n(p.a + i * p.step_a + j * p.lda, m, copy.data() + j * m);
  const int r = svd(with_u ? (all_u > least ? 'A' : 'S') : 'N', with_v ? (all_v > least ? 'A' : 'S') : 'N', m, n,
                    copy.data(), at_least_one(m), s.data(), u.data(), at_least_one(m), vt.data(), at_least_one(all_v));
  std::copy_n(s.data(), rank, p.s + i * p.step_s);
  for (i64 j = 0; with_u && j < rank_u; ++j) std::copy_n(u.data() + j * m, m, p.u + i * p.step_u + j * p.ldu);
  for (i64 j = 0; with_v && j < rank_v; ++j)
    for (i64 k = 0; k < n; ++k) {
      const T x = vt[static_cast<size_t>(k * all_v + j)];
      if constexpr (kComplex<T>)
        p.v[i * p.step_v + j * p.ldv + k] = std::conj(x);
      else
        p.v[i * p.step_v + j * p.ldv + k] = x;
    }
  return r;
}

// The matrix v itself, not its adjoint. rank_u, rank_v: columns of u and v.
template <class T>
cusolverStatus_t with_v(cusolverDnHandle_t h, bool with_u, bool with_v, i64 m, i64 n, i64 rank_u, i64 rank_v, i64 rank,
                        const Parts<T>& p, int* info, i64 count, bool keeps_a = false) {
  const bool right = holds(m, n, p.lda) && info && count >= 0 && rank >= 0 && rank <= std::min(m, n) &&
                     (!with_u || p.ldu >= at_least_one(m)) && (!with_v || p.ldv >= at_least_one(n));
  if (const auto r = state(h, right, m, n, p.lda, p.ldu, p.ldv); r != kSuccess || !count) return r;
  Touched t;
  for (i64 i = 0; i < count; ++i) {
    t.matrix(p.a + i * p.step_a, m, n, p.lda, sizeof(T), !keeps_a);
    t.vector(p.s + i * p.step_s, rank, 1, sizeof(*p.s), true);
    if (with_u) t.matrix(p.u + i * p.step_u, m, rank_u, p.ldu, sizeof(T), true);
    if (with_v) t.matrix(p.v + i * p.step_v, n, rank_v, p.ldv, sizeof(T), true);
  }
  t.vector(info, count, 1, sizeof(int), true);
  return submit(h, t, nullptr, [=] {
    for (i64 i = 0; i < count; ++i) info[i] = svd_with_v(with_u, with_v, m, n, rank_u, rank_v, rank, p, i);
    return 0;
  });
}
template <class T>
cusolverStatus_t gesvdj_of(cusolverDnHandle_t h, cusolverEigMode_t mode, bool economic, i64 m, i64 n, const Parts<T>& p,
                           int* info, i64 count = 1) {
  const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
  const i64 least = std::min(m, n);
  return with_v(h, vectors, vectors, m, n, economic ? least : m, economic ? least : n, least, p, info, count);
}

}  // namespace

#define US_SIZES_M_N cusolverDnHandle_t h, int m, int n
#define US_VECTORS(T, R, C) C T *a, int lda, C R *s, C T *u, int ldu, C T *v, int ldv
#define US_SVD(L, T, R, sy, un)                                                                                        \
  US_DN(L##gesvd_bufferSize)(US_SIZES_M_N, int* n_work) { return size(h, n_work); }                                    \
  US_DN(L##gesvd)                                                                                                      \
  (cusolverDnHandle_t h, signed char want_u, signed char want_vt, int m, int n, T* a, int lda, R* s, T* u, int ldu,    \
   T* vt, int ldvt, T*, int, R*, int* info) {                                                                          \
    return gesvd_of(h, static_cast<char>(want_u), static_cast<char>(want_vt), m, n, own(a), lda, s, own(u), ldu,       \
                    own(vt), ldvt, info);                                                                              \
  }                                                                                                                    \
  US_DN(L##gesvdj_bufferSize)                                                                                          \
  (cusolverDnHandle_t h, cusolverEigMode_t, int, int m, int n, const T*, int lda, const R*, const T*, int, const T*,   \
   int, int* n_work, gesvdjInfo_t) {                                                                                   \
    return size(h, n_work);                                                                                            \
  }                                                                                                                    \
  US_DN(L##gesvdj)                                                                                                     \
  (cusolverDnHandle_t h, cusolverEigMode_t mode, int economic, int m, int n, US_VECTORS(T, R, ), T*, int, int* info,   \
   gesvdjInfo_t) {                                                                                                     \
    const Parts<Spelt<T>::type> p{own(a), lda, 0, s, 0, own(u), ldu, 0, own(v), ldv, 0};                               \
    return gesvdj_of(h, mode, economic != 0, m, n, p, info);                                                           \
  }                                                                                                                    \
  US_DN(L##gesvdjBatched_bufferSize)                                                                                   \
  (cusolverDnHandle_t h, cusolverEigMode_t, int m, int n, const T*, int lda, const R*, const T*, int, const T*, int,   \
   int* n_work, gesvdjInfo_t, int) {                                                                                   \
    return size(h, n_work);                                                                                            \
  }                                                                                                                    \
  US_DN(L##gesvdjBatched)                                                                                              \
  (cusolverDnHandle_t h, cusolverEigMode_t mode, int m, int n, US_VECTORS(T, R, ), T*, int, int* info, gesvdjInfo_t,   \
   int count) {                                                                                                        \
    const Parts<Spelt<T>::type> p{own(a), lda,          i64{lda} * n, s,   std::min(m, n), own(u),                     \
                                  ldu,    i64{ldu} * m, own(v),       ldv, i64{ldv} * n};                              \
    return gesvdj_of(h, mode, false, m, n, p, info, count);                                                            \
  }                                                                                                                    \
  US_DN(L##gesvdaStridedBatched_bufferSize)                                                                            \
  (cusolverDnHandle_t h, cusolverEigMode_t, int rank, int m, int n, const T*, int lda, long long, const R*, long long, \
   const T*, int, long long, const T*, int, long long, int* n_work, int) {                                             \
    return size(h, n_work);                                                                                            \
  }                                                                                                                    \
  US_DN(L##gesvdaStridedBatched)                                                                                       \
  (cusolverDnHandle_t h, cusolverEigMode_t mode, int rank, int m, int n, const T* a, int lda, long long step_a, R* s,  \
   long long step_s, T* u, int ldu, long long step_u, T* v, int ldv, long long step_v, T*, int, int* info,             \
   double* residuals, int count) {                                                                                     \
    const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;                                                             \
    const Parts<Spelt<T>::type> p{                                                                                     \
        own(const_cast<T*>(a)), lda, step_a, s, step_s, own(u), ldu, step_u, own(v), ldv, step_v};                     \
    for (int i = 0; residuals && i < count; ++i) residuals[i] = 0;                                                     \
    return with_v(h, vectors, vectors, m, n, rank, rank, rank, p, info, count, true);                                  \
  }
US_TYPES(US_SVD)

#define US_BUFFERS void*, size_t, void*, size_t
#define US_BUFFER_SIZES size_t *device, size_t *host
#define US_X_HEAD cusolverDnHandle_t h, cusolverDnParams_t
#define US_X_PARTS cudaDataType type, void *a, i64 lda, cudaDataType, void *s, cudaDataType, void *u, i64 ldu
#define US_X_CONST_PARTS \
  cudaDataType, const void *, i64 lda, cudaDataType, const void *, cudaDataType, const void *, i64
US_DN(Xgesvd_bufferSize)
(US_X_HEAD, signed char, signed char, i64 m, i64 n, US_X_CONST_PARTS, cudaDataType, const void*, i64, cudaDataType,
 US_BUFFER_SIZES) {
  return size(h, device, host);
}
US_DN(Xgesvd)
(US_X_HEAD, signed char want_u, signed char want_vt, i64 m, i64 n, US_X_PARTS, cudaDataType, void* vt, i64 ldvt,
 cudaDataType, US_BUFFERS, int* info) {
  return with_type(type, [&]<class T>(T) {
    return gesvd_of(h, static_cast<char>(want_u), static_cast<char>(want_vt), m, n, cast<T>(a), lda, cast<Real<T>>(s),
                    cast<T>(u), ldu, cast<T>(vt), ldvt, info);
  });
}
US_DN(Xgesvdp_bufferSize)
(US_X_HEAD, cusolverEigMode_t, int, i64 m, i64 n, US_X_CONST_PARTS, cudaDataType, const void*, i64, cudaDataType,
 US_BUFFER_SIZES) {
  return size(h, device, host);
}
US_DN(Xgesvdp)
(US_X_HEAD, cusolverEigMode_t mode, int economic, i64 m, i64 n, US_X_PARTS, cudaDataType, void* v, i64 ldv,
 cudaDataType, US_BUFFERS, int* info, double* error) {
  if (error) *error = 0;
  return with_type(type, [&]<class T>(T) {
    const Parts<T> p{cast<T>(a), lda, 0, cast<Real<T>>(s), 0, cast<T>(u), ldu, 0, cast<T>(v), ldv, 0};
    return gesvdj_of(h, mode, economic != 0, m, n, p, info);
  });
}
US_DN(Xgesvdr_bufferSize)
(US_X_HEAD, signed char, signed char, i64 m, i64 n, i64 k, i64 p, i64, US_X_CONST_PARTS, cudaDataType, const void*, i64,
 cudaDataType, US_BUFFER_SIZES) {
  return size(h, device, host);
}
// The first k; nothing is random.
US_DN(Xgesvdr)
(US_X_HEAD, signed char want_u, signed char want_v, i64 m, i64 n, i64 k, i64, i64, US_X_PARTS, cudaDataType, void* v,
 i64 ldv, cudaDataType, US_BUFFERS, int* info) {
  return with_type(type, [&]<class T>(T) {
    const Parts<T> parts{cast<T>(a), lda, 0, cast<Real<T>>(s), 0, cast<T>(u), ldu, 0, cast<T>(v), ldv, 0};
    return with_v(h, want_u == 'S', want_v == 'S', m, n, k, k, k, parts, info, 1);
  });
}
