// SPDX-License-Identifier: Apache-2.0
// A handle, how work gets into its stream, and what the functions' arguments have in common. Each function is written
// once for all types; the names with a type's letter and the X functions, whose types are arguments, call it.
#pragma once
#include <cusolverDn.h>
#include <limits.h>

#include "cuda/api.h"
#include "cuda/host_work/host_work.h"
#include "cuda/libcusolver/lapack.h"

// Parameters that a function does not look at keep the names that the interface has for them.
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
  cusolverDeterministicMode_t deterministic = CUSOLVER_DETERMINISTIC_RESULTS;
};

namespace us::cusolver {

using i64 = int64_t;
using Single = std::complex<float>;
using Double = std::complex<double>;
using host_work::Touched;

constexpr auto kSuccess = CUSOLVER_STATUS_SUCCESS;

// How the interface spells a type.
template <class T>
struct Spelt {
  using type = T;
};
template <>
struct Spelt<cuComplex> {
  using type = Single;
};
template <>
struct Spelt<cuDoubleComplex> {
  using type = Double;
};
template <class T>
auto own(T* p) {
  using U = typename Spelt<std::remove_const_t<T>>::type;
  if constexpr (std::is_const_v<T>)
    return reinterpret_cast<const U*>(p);
  else
    return reinterpret_cast<U*>(p);
}
template <class T>
auto own(T** p) {
  return reinterpret_cast<typename Spelt<T>::type* const*>(p);
}

inline char letter(cublasFillMode_t f) { return f == CUBLAS_FILL_MODE_UPPER ? 'U' : 'L'; }
inline char letter(cublasOperation_t op) { return op == CUBLAS_OP_N ? 'N' : op == CUBLAS_OP_T ? 'T' : 'C'; }
inline char letter(cublasSideMode_t s) { return s == CUBLAS_SIDE_LEFT ? 'L' : 'R'; }
inline char letter(cublasDiagType_t d) { return d == CUBLAS_DIAG_UNIT ? 'U' : 'N'; }
inline char letter(cusolverEigMode_t m) { return m == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N'; }

template <class T>
T* cast(void* p) {
  return static_cast<T*>(p);
}
template <class T>
const T* cast(const void* p) {
  return static_cast<const T*>(p);
}

// `right`: whether the arguments are; sizes are LAPACK's, of 32 bits.
template <class... Sizes>
cusolverStatus_t state(cusolverDnHandle_t h, bool right, Sizes... sizes) {
  return !h                                ? CUSOLVER_STATUS_NOT_INITIALIZED
         : !right                          ? CUSOLVER_STATUS_INVALID_VALUE
         : ((sizes > i64{INT_MAX}) || ...) ? CUSOLVER_STATUS_NOT_SUPPORTED
                                           : kSuccess;
}
inline bool holds(i64 rows, i64 columns, i64 ld) { return rows >= 0 && columns >= 0 && ld >= at_least_one(rows); }

// The work writes its result, LAPACK's INFO, where the program wants it.
template <class F>
cusolverStatus_t submit(cusolverDnHandle_t h, Touched touched, int* info, F work) {
  if (info) touched.vector(info, 1, 1, sizeof(int), true);
  const bool done = host_work::run_in(h->stream, touched, [=] {
    const int r = work();
    if (info) *info = r;
  });
  return done ? kSuccess : CUSOLVER_STATUS_EXECUTION_FAILED;
}
inline cusolverStatus_t wait(cusolverDnHandle_t h, cusolverStatus_t r) {
  return r == kSuccess && cudaStreamSynchronize(h->stream) != cudaSuccess ? CUSOLVER_STATUS_EXECUTION_FAILED : r;
}

// The program's workspace is not used, so any size does; none is asked of the host. Sizes of matrices are not looked
// at. An H200's cuSOLVER 12.0.4 does so for all leading dimensions; it refuses a negative size of syevd, and a negative
// leading dimension of orgtr.
inline cusolverStatus_t size(cusolverDnHandle_t h, int* to) {
  if (const auto r = state(h, to); r != kSuccess) return r;
  *to = 64;
  return kSuccess;
}
inline cusolverStatus_t size(cusolverDnHandle_t h, size_t* device, size_t* host) {
  if (const auto r = state(h, device && host); r != kSuccess) return r;
  *device = 64, *host = 0;
  return kSuccess;
}

// Calls `f` with a zero of the type that an X function is given.
template <class F>
cusolverStatus_t with_type(cudaDataType type, F f) {
  switch (type) {
    case CUDA_R_32F:
      return f(float{});
    case CUDA_R_64F:
      return f(double{});
    case CUDA_C_32F:
      return f(Single{});
    case CUDA_C_64F:
      return f(Double{});
    default:
      return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
}

// Calls M(letter, type, its real type, prefixes: of symmetric and of orthogonal matrices) for each type.
#define US_TYPES(M)              \
  M(S, float, float, sy, or)     \
  M(D, double, double, sy, or)   \
  M(C, cuComplex, float, he, un) \
  M(Z, cuDoubleComplex, double, he, un)
#define US_DN(name) US_API cusolverStatus_t cusolverDn##name

}  // namespace us::cusolver
