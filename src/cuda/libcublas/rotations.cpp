// SPDX-License-Identifier: Apache-2.0
// Rotations of two vectors, and what makes them.
#include <cmath>

#include "cuda/api.h"
#include "cuda/libcublas/blas_calls.h"

using namespace us::cublas;
using i64 = int64_t;

namespace {

template <class T>
T& at(T* x, i64 n, i64 step, i64 i) {
  return x[step > 0 ? i * step : (i - n + 1) * step];
}

// x' = c x + s y, y' = c y - conj(s) x.
template <class T, class C, class S>
cublasStatus_t rot(cublasHandle_t h, i64 n, T* x, i64 ix, T* y, i64 iy, const C* c, const S* s) {
  if (const auto r = state(h, n <= 0 || (x && y && c && s), fit(n, ix, iy)); r != kSuccess || n <= 0) return r;
  Touched t;
  t.vector(x, n, ix, sizeof(T), true), t.vector(y, n, iy, sizeof(T), true);
  return submit(h, t, [=, p = Scalar<C>(h, c), q = Scalar<S>(h, s)] {
    const auto by = number(p.get());
    const auto with = number(q.get());
    for (i64 i = 0; i < n; ++i) {
      T &u = at(x, n, ix, i), &v = at(y, n, iy, i);
      const auto a = number(u), b = number(v);
      put(u, by * a + with * b), put(v, by * b - conjugate(with) * a);
    }
  });
}

void make(float* a, float* b, float* c, float* s) { cblas_srotg(a, b, c, s); }
void make(double* a, double* b, double* c, double* s) { cblas_drotg(a, b, c, s); }
template <class T, class R>
void make(T* a, T* b, R* c, T* s) {
  const auto x = number(*a), y = number(*b);
  const R size = std::abs(x), both = std::hypot(size, std::abs(y));
  if (size == 0) {
    *c = 0, put(*s, decltype(x){1}), *a = *b;
    return;
  }
  const auto direction = x / size;
  *c = size / both;
  put(*s, direction * std::conj(y) / both), put(*a, direction * both);
}

template <class T, class R>
cublasStatus_t rotg(cublasHandle_t h, T* a, T* b, R* c, T* s) {
  if (const auto r = state(h, a && b && c && s, true); r != kSuccess) return r;
  Touched t;
  if (h->pointers == CUBLAS_POINTER_MODE_DEVICE) {
    t.vector(a, 1, 1, sizeof(T), true), t.vector(b, 1, 1, sizeof(T), true);
    t.vector(c, 1, 1, sizeof(R), true), t.vector(s, 1, 1, sizeof(T), true);
  }
  return submit_result(h, t, [=] { make(a, b, c, s); });
}

template <class T>
struct Modified {
  T values[5];
};

template <class T, class F>
cublasStatus_t rotm(cublasHandle_t h, i64 n, T* x, i64 ix, T* y, i64 iy, const T* parameters, F f) {
  if (const auto r = state(h, n <= 0 || (x && y && parameters), fit(n, ix, iy)); r != kSuccess || n <= 0) return r;
  Touched t;
  t.vector(x, n, ix, sizeof(T), true), t.vector(y, n, iy, sizeof(T), true);
  return submit(h, t, [=, p = Scalar<Modified<T>>(h, reinterpret_cast<const Modified<T>*>(parameters))] {
    const auto m = p.get();
    f(small(n), x, small(ix), y, small(iy), m.values);
  });
}

template <class T, class F>
cublasStatus_t rotmg(cublasHandle_t h, T* d1, T* d2, T* x, const T* y, T* parameters, F f) {
  if (const auto r = state(h, d1 && d2 && x && y && parameters, true); r != kSuccess) return r;
  Touched t;
  if (h->pointers == CUBLAS_POINTER_MODE_DEVICE) {
    for (const T* p : {d1, d2, x}) t.vector(p, 1, 1, sizeof(T), true);
    t.vector(y, 1, 1, sizeof(T), false), t.vector(parameters, 5, 1, sizeof(T), true);
  }
  return submit_result(h, t, [=] { f(d1, d2, x, *y, parameters); });
}

}  // namespace

#define US_ROT(name, T, C, S, I)                                                                      \
  US_API cublasStatus_t name(cublasHandle_t h, I n, T* x, I ix, T* y, I iy, const C* c, const S* s) { \
    return rot(h, n, x, ix, y, iy, c, s);                                                             \
  }
#define US_ROTS(I, V)                                                \
  US_ROT(cublasSrot##V, float, float, float, I)                      \
  US_ROT(cublasDrot##V, double, double, double, I)                   \
  US_ROT(cublasCrot##V, cuComplex, float, cuComplex, I)              \
  US_ROT(cublasCsrot##V, cuComplex, float, float, I)                 \
  US_ROT(cublasZrot##V, cuDoubleComplex, double, cuDoubleComplex, I) \
  US_ROT(cublasZdrot##V, cuDoubleComplex, double, double, I)         \
  US_ROTM(cublasSrotm##V, float, I, cblas_srotm)                     \
  US_ROTM(cublasDrotm##V, double, I, cblas_drotm)
#define US_ROTM(name, T, I, with)                                                                  \
  US_API cublasStatus_t name(cublasHandle_t h, I n, T* x, I ix, T* y, I iy, const T* parameters) { \
    return rotm(h, n, x, ix, y, iy, parameters, with);                                             \
  }
US_ROTS(int, _v2)
US_ROTS(i64, _v2_64)

#define US_ROTG(name, T, R) \
  US_API cublasStatus_t name(cublasHandle_t h, T* a, T* b, R* c, T* s) { return rotg(h, a, b, c, s); }
US_ROTG(cublasSrotg_v2, float, float)
US_ROTG(cublasDrotg_v2, double, double)
US_ROTG(cublasCrotg_v2, cuComplex, float)
US_ROTG(cublasZrotg_v2, cuDoubleComplex, double)

US_API cublasStatus_t cublasSrotmg_v2(cublasHandle_t h, float* d1, float* d2, float* x, const float* y, float* p) {
  return rotmg(h, d1, d2, x, y, p, cblas_srotmg);
}
US_API cublasStatus_t cublasDrotmg_v2(cublasHandle_t h, double* d1, double* d2, double* x, const double* y, double* p) {
  return rotmg(h, d1, d2, x, y, p, cblas_drotmg);
}
