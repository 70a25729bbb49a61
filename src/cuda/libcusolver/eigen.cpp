// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors. What iterates by Jacobi's rotations on a device is computed as the rest is.
#include "cuda/libcusolver/solver.h"

using namespace us::cusolver;

namespace {

// Where a matrix of eigenvectors is made, of which one triangle is read.
template <class T>
void square(Touched& t, cusolverEigMode_t mode, cublasFillMode_t uplo, const T* a, i64 n, i64 lda) {
  if (mode == CUSOLVER_EIG_MODE_VECTOR)
    t.matrix(a, n, n, lda, sizeof(T), true);
  else
    t.triangle(a, n, lda, sizeof(T), uplo == CUBLAS_FILL_MODE_UPPER, true);
}

template <class T>
cusolverStatus_t syevd_of(cusolverDnHandle_t h, cusolverEigMode_t mode, cublasFillMode_t uplo, i64 n, T* a, i64 lda,
                          Real<T>* w, int* info, i64 count = 1) {
  if (const auto r = state(h, holds(n, n, lda) && info && count >= 0, n, lda); r != kSuccess || !count) return r;
  Touched t;
  for (i64 i = 0; i < count; ++i) square(t, mode, uplo, a + i * lda * n, n, lda);
  t.vector(w, n * count, 1, sizeof(*w), true), t.vector(info, count, 1, sizeof(int), true);
  return submit(h, t, nullptr, [=] {
    for (i64 i = 0; i < count; ++i)
      info[i] = eigen<T>(syevd<T>, letter(mode), letter(uplo), n, a + i * lda * n, lda, w + i * n);
    return 0;
  });
}

template <class T>
cusolverStatus_t sygvd_of(cusolverDnHandle_t h, cusolverEigType_t type, cusolverEigMode_t mode, cublasFillMode_t uplo,
                          i64 n, T* a, i64 lda, T* b, i64 ldb, Real<T>* w, int* info) {
  const bool right = holds(n, n, lda) && holds(n, n, ldb) && info;
  if (const auto r = state(h, right, n, lda, ldb); r != kSuccess) return r;
  Touched t;
  square(t, mode, uplo, a, n, lda), t.triangle(b, n, ldb, sizeof(T), uplo == CUBLAS_FILL_MODE_UPPER, true);
  t.vector(w, n, 1, sizeof(*w), true);
  return submit(h, t, info,
                [=] { return eigen<T>(sygvd<T>, i64{type}, letter(mode), letter(uplo), n, a, lda, b, ldb, w); });
}

// Which eigenvalues: those counted from..to (from 1), or those above `low` and not above `high`.
struct Range {
  cusolverEigRange_t kind;
  double low, high;
  i64 from, to;
  bool right(i64 n) const {
    return kind == CUSOLVER_EIG_RANGE_V   ? low < high
           : kind == CUSOLVER_EIG_RANGE_I ? !n || (from >= 1 && from <= to && to <= n)
                                          : kind == CUSOLVER_EIG_RANGE_ALL;
  }
  template <class R>
  bool has(const R* w, i64 i) const {
    return kind == CUSOLVER_EIG_RANGE_V   ? static_cast<double>(w[i]) > low && static_cast<double>(w[i]) <= high
           : kind == CUSOLVER_EIG_RANGE_I ? i + 1 >= from && i + 1 <= to
                                          : true;
  }
};

// All are computed, and those asked for moved to the front; their number is the host's to read when the call returns.
template <class T, class M, class F>
cusolverStatus_t some(cusolverDnHandle_t h, Touched t, Range range, i64 n, T* a, i64 lda, Real<T>* w, M* found,
                      int* info, F all) {
  t.vector(w, n, 1, sizeof(*w), true);
  return wait(h, submit(h, t, info, [=] {
                const int r = all();
                i64 k = 0;
                for (i64 i = 0; i < n && !r; ++i) {
                  if (!range.has(w, i)) continue;
                  if (k != i) w[k] = w[i], std::copy_n(a + i * lda, n, a + k * lda);
                  ++k;
                }
                if (found) *found = static_cast<M>(k);
                return r;
              }));
}
template <class T, class M>
cusolverStatus_t syevdx_of(cusolverDnHandle_t h, cusolverEigMode_t mode, Range range, cublasFillMode_t uplo, i64 n,
                           T* a, i64 lda, M* found, Real<T>* w, int* info) {
  if (const auto r = state(h, holds(n, n, lda) && info && range.right(n), n, lda); r != kSuccess) return r;
  Touched t;
  square(t, mode, uplo, a, n, lda);
  return some(h, t, range, n, a, lda, w, found, info,
              [=] { return eigen<T>(syevd<T>, letter(mode), letter(uplo), n, a, lda, w); });
}
template <class T>
cusolverStatus_t sygvdx_of(cusolverDnHandle_t h, cusolverEigType_t type, cusolverEigMode_t mode, Range range,
                           cublasFillMode_t uplo, i64 n, T* a, i64 lda, T* b, i64 ldb, int* found, Real<T>* w,
                           int* info) {
  const bool right = holds(n, n, lda) && holds(n, n, ldb) && info && range.right(n);
  if (const auto r = state(h, right, n, lda, ldb); r != kSuccess) return r;
  Touched t;
  square(t, mode, uplo, a, n, lda), t.triangle(b, n, ldb, sizeof(T), uplo == CUBLAS_FILL_MODE_UPPER, true);
  return some(h, t, range, n, a, lda, w, found, info,
              [=] { return eigen<T>(sygvd<T>, i64{type}, letter(mode), letter(uplo), n, a, lda, b, ldb, w); });
}

// Of a general matrix. Eigenvalues are complex numbers (`w_complex`), or n real parts and then n imaginary ones.
template <class T>
int general(cusolverEigMode_t left, cusolverEigMode_t right, i64 n, T* a, i64 lda, void* w, bool w_complex, T* vl,
            i64 ldvl, T* vr, i64 ldvr) {
  if constexpr (kComplex<T>) {
    std::vector<Real<T>> reals(static_cast<size_t>(2 * at_least_one(n)));
    T size{};
    const auto run = [&](T* work, i64 n_work) {
      return solve(geev<T>, letter(left), letter(right), n, a, lda, static_cast<T*>(w), vl, ldvl, vr, ldvr, work,
                   n_work, reals.data());
    };
    if (const int wrong = run(&size, -1)) return wrong;
    std::vector<T> work(static_cast<size_t>(std::real(size)));
    return run(work.data(), static_cast<i64>(work.size()));
  } else {
    std::vector<T> parts(static_cast<size_t>(2 * n));
    const int r = solve_with_work<T>(geev<T>, letter(left), letter(right), n, a, lda, parts.data(), parts.data() + n,
                                     vl, ldvl, vr, ldvr);
    auto* const to = static_cast<T*>(w);
    for (i64 i = 0; i < n; ++i)
      for (i64 part = 0; part < 2; ++part)
        to[w_complex ? 2 * i + part : part * n + i] = parts[static_cast<size_t>(part * n + i)];
    return r;
  }
}
template <class T>
cusolverStatus_t geev_of(cusolverDnHandle_t h, cusolverEigMode_t left, cusolverEigMode_t right, i64 n, T* a, i64 lda,
                         void* w, cudaDataType w_type, T* vl, i64 ldvl, T* vr, i64 ldvr, int* info) {
  const bool with_left = left == CUSOLVER_EIG_MODE_VECTOR, with_right = right == CUSOLVER_EIG_MODE_VECTOR;
  const bool good = holds(n, n, lda) && info && (!with_left || holds(n, n, ldvl)) && (!with_right || holds(n, n, ldvr));
  if (const auto r = state(h, good, n, lda); r != kSuccess) return r;
  Touched t;
  t.matrix(a, n, n, lda, sizeof(T), true), t.vector(w, n, 1, kComplex<T> ? sizeof(T) : 2 * sizeof(T), true);
  if (with_left) t.matrix(vl, n, n, ldvl, sizeof(T), true);
  if (with_right) t.matrix(vr, n, n, ldvr, sizeof(T), true);
  const bool w_complex = w_type == CUDA_C_32F || w_type == CUDA_C_64F;
  return submit(h, t, info, [=] {
    return general(left, right, n, a, lda, w, w_complex, vl, at_least_one(ldvl), vr, at_least_one(ldvr));
  });
}

}  // namespace

#define US_SQUARE [[maybe_unused]] cublasFillMode_t uplo, int n
#define US_HEAD cusolverDnHandle_t h, [[maybe_unused]] cusolverEigMode_t mode
#define US_TWO_HEAD \
  cusolverDnHandle_t h, [[maybe_unused]] cusolverEigType_t type, [[maybe_unused]] cusolverEigMode_t mode
#define US_RANGE(R) [[maybe_unused]] R low, [[maybe_unused]] R high, [[maybe_unused]] int from, [[maybe_unused]] int to
#define US_THIS_RANGE \
  Range { kind, static_cast<double>(low), static_cast<double>(high), from, to }
#define US_EIGEN(L, T, R, sy, un)                                                                                     \
  US_DN(L##sy##evd_bufferSize)(US_HEAD, US_SQUARE, const T*, int lda, const R*, int* n_work) {                        \
    return size(h, n_work);                                                                                           \
  }                                                                                                                   \
  US_DN(L##sy##evd)(US_HEAD, US_SQUARE, T * a, int lda, R* w, T*, int, int* info) {                                   \
    return syevd_of(h, mode, uplo, n, own(a), lda, w, info);                                                          \
  }                                                                                                                   \
  US_DN(L##sy##evj_bufferSize)(US_HEAD, US_SQUARE, const T*, int lda, const R*, int* n_work, syevjInfo_t) {           \
    return size(h, n_work);                                                                                           \
  }                                                                                                                   \
  US_DN(L##sy##evj)(US_HEAD, US_SQUARE, T * a, int lda, R* w, T*, int, int* info, syevjInfo_t) {                      \
    return syevd_of(h, mode, uplo, n, own(a), lda, w, info);                                                          \
  }                                                                                                                   \
  US_DN(L##sy##evjBatched_bufferSize)                                                                                 \
  (US_HEAD, US_SQUARE, const T*, int lda, const R*, int* n_work, syevjInfo_t, int) { return size(h, n_work); }        \
  US_DN(L##sy##evjBatched)(US_HEAD, US_SQUARE, T * a, int lda, R* w, T*, int, int* info, syevjInfo_t, int count) {    \
    return syevd_of(h, mode, uplo, n, own(a), lda, w, info, count);                                                   \
  }                                                                                                                   \
  US_DN(L##sy##gvd_bufferSize)(US_TWO_HEAD, US_SQUARE, const T*, int lda, const T*, int ldb, const R*, int* n_work) { \
    return size(h, n_work);                                                                                           \
  }                                                                                                                   \
  US_DN(L##sy##gvd)(US_TWO_HEAD, US_SQUARE, T * a, int lda, T* b, int ldb, R* w, T*, int, int* info) {                \
    return sygvd_of(h, type, mode, uplo, n, own(a), lda, own(b), ldb, w, info);                                       \
  }                                                                                                                   \
  US_DN(L##sy##gvj_bufferSize)                                                                                        \
  (US_TWO_HEAD, US_SQUARE, const T*, int lda, const T*, int ldb, const R*, int* n_work, syevjInfo_t) {                \
    return size(h, n_work);                                                                                           \
  }                                                                                                                   \
  US_DN(L##sy##gvj)(US_TWO_HEAD, US_SQUARE, T * a, int lda, T* b, int ldb, R* w, T*, int, int* info, syevjInfo_t) {   \
    return sygvd_of(h, type, mode, uplo, n, own(a), lda, own(b), ldb, w, info);                                       \
  }                                                                                                                   \
  US_DN(L##sy##evdx_bufferSize)                                                                                       \
  (US_HEAD, cusolverEigRange_t, US_SQUARE, const T*, int lda, US_RANGE(R), int*, const R*, int* n_work) {             \
    return size(h, n_work);                                                                                           \
  }                                                                                                                   \
  US_DN(L##sy##evdx)                                                                                                  \
  (US_HEAD, cusolverEigRange_t kind, US_SQUARE, T * a, int lda, US_RANGE(R), int* found, R* w, T*, int, int* info) {  \
    return syevdx_of(h, mode, US_THIS_RANGE, uplo, n, own(a), lda, found, w, info);                                   \
  }                                                                                                                   \
  US_DN(L##sy##gvdx_bufferSize)                                                                                       \
  (US_TWO_HEAD, cusolverEigRange_t, US_SQUARE, const T*, int lda, const T*, int ldb, US_RANGE(R), int*, const R*,     \
   int* n_work) {                                                                                                     \
    return size(h, n_work);                                                                                           \
  }                                                                                                                   \
  US_DN(L##sy##gvdx)                                                                                                  \
  (US_TWO_HEAD, cusolverEigRange_t kind, US_SQUARE, T * a, int lda, T* b, int ldb, US_RANGE(R), int* found, R* w, T*, \
   int, int* info) {                                                                                                  \
    return sygvdx_of(h, type, mode, US_THIS_RANGE, uplo, n, own(a), lda, own(b), ldb, found, w, info);                \
  }
US_TYPES(US_EIGEN)

#define US_X_HEAD cusolverDnHandle_t h, cusolverDnParams_t, [[maybe_unused]] cusolverEigMode_t mode
#define US_BUFFERS void*, size_t, void*, size_t
#define US_SIZES size_t *device, size_t *host
US_DN(Xsyevd_bufferSize)
(US_X_HEAD, cublasFillMode_t, i64 n, cudaDataType, const void*, i64 lda, cudaDataType, const void*, cudaDataType,
 US_SIZES) {
  return size(h, device, host);
}
US_DN(Xsyevd)
(US_X_HEAD, cublasFillMode_t uplo, i64 n, cudaDataType type, void* a, i64 lda, cudaDataType, void* w, cudaDataType,
 US_BUFFERS, int* info) {
  return with_type(type,
                   [&]<class T>(T) { return syevd_of(h, mode, uplo, n, cast<T>(a), lda, cast<Real<T>>(w), info); });
}
US_DN(XsyevBatched_bufferSize)
(US_X_HEAD, cublasFillMode_t, i64 n, cudaDataType, const void*, i64 lda, cudaDataType, const void*, cudaDataType,
 US_SIZES, i64) {
  return size(h, device, host);
}
US_DN(XsyevBatched)
(US_X_HEAD, cublasFillMode_t uplo, i64 n, cudaDataType type, void* a, i64 lda, cudaDataType, void* w, cudaDataType,
 US_BUFFERS, int* info, i64 count) {
  return with_type(
      type, [&]<class T>(T) { return syevd_of(h, mode, uplo, n, cast<T>(a), lda, cast<Real<T>>(w), info, count); });
}
US_DN(Xsyevdx_bufferSize)
(US_X_HEAD, cusolverEigRange_t, cublasFillMode_t, i64 n, cudaDataType, const void*, i64 lda, void*, void*, i64, i64,
 i64*, cudaDataType, const void*, cudaDataType, US_SIZES) {
  return size(h, device, host);
}
US_DN(Xsyevdx)
(US_X_HEAD, cusolverEigRange_t kind, cublasFillMode_t uplo, i64 n, cudaDataType type, void* a, i64 lda, void* low,
 void* high, i64 from, i64 to, i64* found, cudaDataType, void* w, cudaDataType, US_BUFFERS, int* info) {
  return with_type(type, [&]<class T>(T) {
    const auto number = [&](const void* p) {
      return kind == CUSOLVER_EIG_RANGE_V && p ? static_cast<double>(*cast<Real<T>>(p)) : 0.0;
    };
    const Range range{kind, number(low), number(high), from, to};
    return syevdx_of(h, mode, range, uplo, n, cast<T>(a), lda, found, cast<Real<T>>(w), info);
  });
}
US_DN(Xgeev_bufferSize)
(US_X_HEAD, cusolverEigMode_t, i64 n, cudaDataType, const void*, i64 lda, cudaDataType, const void*, cudaDataType,
 const void*, i64, cudaDataType, const void*, i64, cudaDataType, US_SIZES) {
  return size(h, device, host);
}
US_DN(Xgeev)
(US_X_HEAD, cusolverEigMode_t right, i64 n, cudaDataType type, void* a, i64 lda, cudaDataType w_type, void* w,
 cudaDataType, void* vl, i64 ldvl, cudaDataType, void* vr, i64 ldvr, cudaDataType, US_BUFFERS, int* info) {
  return with_type(type, [&]<class T>(T) {
    return geev_of(h, mode, right, n, cast<T>(a), lda, w, w_type, cast<T>(vl), ldvl, cast<T>(vr), ldvr, info);
  });
}
