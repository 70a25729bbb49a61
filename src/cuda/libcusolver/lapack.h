// SPDX-License-Identifier: Apache-2.0
// The system's LAPACK, by type of number. Its functions have no header: all take addresses, and behind the arguments
// the length of each text, which is one letter.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace us::cusolver {

using Function = void (*)();

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
constexpr bool kComplex = !std::is_same_v<T, Real<T>>;

template <class T>
constexpr Function pick(Function s, Function d, Function c, Function z) {
  static_assert(std::is_floating_point_v<Real<T>>);
  if constexpr (kComplex<T>)
    return std::is_same_v<Real<T>, float> ? c : z;
  else
    return std::is_same_v<T, float> ? s : d;
}

// US_LAPACK(name here, of float, double, and their complex numbers)
#define US_LAPACK_NAMES(N)                     \
  N(potrf, spotrf_, dpotrf_, cpotrf_, zpotrf_) \
  N(potrs, spotrs_, dpotrs_, cpotrs_, zpotrs_) \
  N(potri, spotri_, dpotri_, cpotri_, zpotri_) \
  N(lauum, slauum_, dlauum_, clauum_, zlauum_) \
  N(trtri, strtri_, dtrtri_, ctrtri_, ztrtri_) \
  N(getrf, sgetrf_, dgetrf_, cgetrf_, zgetrf_) \
  N(getrs, sgetrs_, dgetrs_, cgetrs_, zgetrs_) \
  N(laswp, slaswp_, dlaswp_, claswp_, zlaswp_) \
  N(sytrf, ssytrf_, dsytrf_, csytrf_, zsytrf_) \
  N(sytrs, ssytrs_, dsytrs_, csytrs_, zsytrs_) \
  N(sytri, ssytri_, dsytri_, csytri_, zsytri_) \
  N(geqrf, sgeqrf_, dgeqrf_, cgeqrf_, zgeqrf_) \
  N(orgqr, sorgqr_, dorgqr_, cungqr_, zungqr_) \
  N(ormqr, sormqr_, dormqr_, cunmqr_, zunmqr_) \
  N(gebrd, sgebrd_, dgebrd_, cgebrd_, zgebrd_) \
  N(orgbr, sorgbr_, dorgbr_, cungbr_, zungbr_) \
  N(sytrd, ssytrd_, dsytrd_, chetrd_, zhetrd_) \
  N(orgtr, sorgtr_, dorgtr_, cungtr_, zungtr_) \
  N(ormtr, sormtr_, dormtr_, cunmtr_, zunmtr_) \
  N(gels, sgels_, dgels_, cgels_, zgels_)      \
  N(syevd, ssyevd_, dsyevd_, cheevd_, zheevd_) \
  N(sygvd, ssygvd_, dsygvd_, chegvd_, zhegvd_) \
  N(geev, sgeev_, dgeev_, cgeev_, zgeev_)      \
  N(gesvd, sgesvd_, dgesvd_, cgesvd_, zgesvd_)
#define US_LAPACK(name, s, d, c, z) \
  extern "C" {                      \
  void s();                         \
  void d();                         \
  void c();                         \
  void z();                         \
  }                                 \
  template <class T>                \
  constexpr Function name = pick<T>(s, d, c, z);
US_LAPACK_NAMES(US_LAPACK)

inline int narrow(int64_t n) { return static_cast<int>(n); }
inline int narrow(int n) { return n; }
template <class T>
T narrow(T x) {
  return x;
}
template <class T>
T* address(T*& p) {
  return p;
}
template <class T>
T* address(T& x) {
  return &x;
}

template <class... A>
void call_with(Function f, A... a) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    reinterpret_cast<void (*)(decltype(address(a))..., decltype(size_t{I})...)>(f)(address(a)..., (I * 0 + 1)...);
  }
  (std::make_index_sequence<(std::is_same_v<A, char> + ... + 0)>{});
}
// Numbers by value, arrays by address.
template <class... A>
void call(Function f, A... a) {
  call_with(f, narrow(a)...);
}

// A function whose last argument is INFO.
template <class... A>
int solve(Function f, A... a) {
  int info = 0;
  call(f, a..., &info);
  return info;
}

// One that has WORK, LWORK and INFO at its end; it is asked how much it wants.
template <class T, class... A>
int solve_with_work(Function f, A... a) {
  T size{};
  if (const int wrong = solve(f, a..., &size, -1)) return wrong;
  std::vector<T> work(static_cast<size_t>(std::max<Real<T>>(1, std::real(size))));
  return solve(f, a..., work.data(), static_cast<int64_t>(work.size()));
}

inline int64_t at_least_one(int64_t n) { return std::max<int64_t>(1, n); }

// Eigenvalues of a symmetric or hermitian matrix, ascending; with `vectors` the matrix becomes them. `f`: syevd or
// sygvd with its arguments before WORK.
template <class T, class... A>
int eigen(Function f, A... a) {
  T size{};
  Real<T> real_size{};
  int whole_size = 0;
  const auto ask = [&](T* work, int64_t n, Real<T>* reals, int64_t n_reals, int* wholes, int64_t n_wholes) {
    if constexpr (kComplex<T>)
      return solve(f, a..., work, n, reals, n_reals, wholes, n_wholes);
    else
      return solve(f, a..., work, n, wholes, n_wholes);
  };
  if (const int wrong = ask(&size, -1, &real_size, -1, &whole_size, -1)) return wrong;
  std::vector<T> work(static_cast<size_t>(std::max<Real<T>>(1, std::real(size))));
  std::vector<Real<T>> reals(static_cast<size_t>(std::max<Real<T>>(1, real_size)));
  std::vector<int> wholes(static_cast<size_t>(std::max(1, whole_size)));
  return ask(work.data(), static_cast<int64_t>(work.size()), reals.data(), static_cast<int64_t>(reals.size()),
             wholes.data(), static_cast<int64_t>(wholes.size()));
}

}  // namespace us::cusolver
