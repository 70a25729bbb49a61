// SPDX-License-Identifier: Apache-2.0
// flags: -lcusolver -lcublas
// needs: cusolverDn.h
// ours only: results are compared with what defines them (a product of the factors is the matrix), to a tolerance
// cuSOLVER's dense functions in four types: factors, solutions, inverses, orthogonal matrices, eigenvalues, singular
// values, batches, the functions whose types are arguments, a graph, and wrong arguments.
#include <cusolverDn.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "api.h"

namespace {
cusolverDnHandle_t h;
bool good = true;
constexpr int m = 7, n = 5, kColumns = 2, kBatch = 3;
const auto kUp = CUBLAS_FILL_MODE_UPPER, kLow = CUBLAS_FILL_MODE_LOWER;
const auto kVectors = CUSOLVER_EIG_MODE_VECTOR;

template <class T>
struct Real {
  using type = T;
};
template <class R>
struct Real<std::complex<R>> {
  using type = R;
};
template <class T>
using RealOf = typename Real<T>::type;

float conjugate(float x) { return x; }
double conjugate(double x) { return x; }
template <class R>
std::complex<R> conjugate(std::complex<R> x) {
  return std::conj(x);
}
template <class T>
T entry(int i, int j) {
  const auto part = [](int k) { return static_cast<RealOf<T>>(k % 13 - 6) / 4; };
  if constexpr (std::is_same_v<T, RealOf<T>>)
    return part(3 * i * i + 7 * j * j + 5 * i * j + i + 2 * j);
  else
    return T(part(3 * i * i + 7 * j * j + 5 * i * j + i + 2 * j), part(i * 5 + j * 23 + 2));
}

// A matrix by columns in memory of both.
template <class T>
struct Matrix {
  int rows, columns;
  T* v;
  Matrix(int rows, int columns) : rows(rows), columns(columns) {
    MUST(cudaMallocManaged(&v, sizeof(T) * rows * columns));
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) (*this)(i, j) = entry<T>(i, j);
  }
  T& operator()(int i, int j) { return v[j * rows + i]; }
  T operator()(int i, int j) const { return v[j * rows + i]; }
  Matrix copy() const {
    Matrix c(rows, columns);
    std::copy_n(v, rows * columns, c.v);
    return c;
  }
  Matrix adjoint() const {
    Matrix c(columns, rows);
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) c(j, i) = conjugate((*this)(i, j));
    return c;
  }
};
template <class T>
Matrix<T> operator*(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c(a.rows, b.columns);
  for (int j = 0; j < c.columns; ++j)
    for (int i = 0; i < c.rows; ++i) {
      T sum{};
      for (int k = 0; k < a.columns; ++k) sum += a(i, k) * b(k, j);
      c(i, j) = sum;
    }
  return c;
}
template <class T>
Matrix<T> diagonal(int rows, int columns, const RealOf<T>* d) {
  Matrix<T> c(rows, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) c(i, j) = i == j ? T(d[i]) : T{};
  return c;
}
template <class T>
Matrix<T> unit(int size) {
  const std::vector<RealOf<T>> ones(size, 1);
  return diagonal<T>(size, size, ones.data());
}
// Positive definite.
template <class T>
Matrix<T> definite() {
  const Matrix<T> g(n, n);
  Matrix<T> a = g * g.adjoint();
  for (int i = 0; i < n; ++i) a(i, i) += T(RealOf<T>(n));
  return a;
}

void expect(bool right, const char* what) {
  if (right) return;
  std::printf("WRONG: %s\n", what);
  good = false;
}
template <class T>
void near(const Matrix<T>& a, const Matrix<T>& b, const char* what) {
  double off = 0, scale = 1;
  for (int i = 0; i < a.rows * a.columns; ++i) {
    off = std::max<double>(off, std::abs(a.v[i] - b.v[i]));
    scale = std::max<double>(scale, std::abs(b.v[i]));
  }
  const double limit = std::is_same_v<RealOf<T>, float> ? 2e-5 : 1e-12;
  expect(a.rows == b.rows && a.columns == b.columns && off <= limit * scale, what);
}
int* info;
void done(cusolverStatus_t s, const char* what, int count = 1) {
  if (s != CUSOLVER_STATUS_SUCCESS) std::printf("%s: status %d\n", what, s);
  expect(s == CUSOLVER_STATUS_SUCCESS, what);
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) expect(info[i] == 0, what), info[i] = -99;
}

// The names of one type. C: how cuSOLVER spells it.
template <class T>
struct Names;
#define NAMES(T, C, L, sy, un)                                                                                  \
  template <>                                                                                                   \
  struct Names<T> {                                                                                             \
    using type = C;                                                                                             \
    static constexpr auto potrf = cusolverDn##L##potrf, potri = cusolverDn##L##potri;                           \
    static constexpr auto potrf_size = cusolverDn##L##potrf_bufferSize;                                         \
    static constexpr auto potrs = cusolverDn##L##potrs;                                                         \
    static constexpr auto potrf_batched = cusolverDn##L##potrfBatched;                                          \
    static constexpr auto potrs_batched = cusolverDn##L##potrsBatched;                                          \
    static constexpr auto getrf = cusolverDn##L##getrf;                                                         \
    static constexpr auto getrf_size = cusolverDn##L##getrf_bufferSize;                                         \
    static constexpr auto getrs = cusolverDn##L##getrs; \
    static constexpr auto sytrf = cusolverDn##L##sytrf; \
    static constexpr auto geqrf = cusolverDn##L##geqrf;                                                         \
    static constexpr auto geqrf_size = cusolverDn##L##geqrf_bufferSize;                                         \
    static constexpr auto orgqr = cusolverDn##L##un##gqr;                                                       \
    static constexpr auto ormqr = cusolverDn##L##un##mqr;                                                       \
    static constexpr auto syevd = cusolverDn##L##sy##evd;                                                       \
    static constexpr auto syevd_size = cusolverDn##L##sy##evd_bufferSize;                                       \
    static constexpr auto syevj = cusolverDn##L##sy##evj;                                                       \
    static constexpr auto syevj_batched = cusolverDn##L##sy##evjBatched;                                        \
    static constexpr auto syevdx = cusolverDn##L##sy##evdx;                                                     \
    static constexpr auto sygvd = cusolverDn##L##sy##gvd;                                                       \
    static constexpr auto sytrd = cusolverDn##L##sy##trd;                                                       \
    static constexpr auto orgtr = cusolverDn##L##un##gtr;                                                       \
    static constexpr auto gebrd = cusolverDn##L##gebrd;                                                         \
    static constexpr auto orgbr = cusolverDn##L##un##gbr;                                                       \
    static constexpr auto gesvd = cusolverDn##L##gesvd;                                                         \
    static constexpr auto gesvd_size = cusolverDn##L##gesvd_bufferSize;                                         \
    static constexpr auto gesvdj = cusolverDn##L##gesvdj;                                                       \
    static constexpr auto gesvdj_batched = cusolverDn##L##gesvdjBatched;                                        \
    static constexpr auto gesvda = cusolverDn##L##gesvdaStridedBatched;                                         \
    static constexpr auto gesv = cusolverDn##L##L##gesv;                                                        \
    static constexpr auto gels = cusolverDn##L##L##gels;                                                        \
  };
NAMES(float, float, S, sy, or)
NAMES(double, double, D, sy, or)
NAMES(std::complex<float>, cuComplex, C, he, un)
NAMES(std::complex<double>, cuDoubleComplex, Z, he, un)

template <class T>
auto* c(T* p) {
  return reinterpret_cast<typename Names<T>::type*>(p);
}
template <class T>
T* array(int count) {
  T* p;
  MUST(cudaMallocManaged(&p, count * sizeof(T)));
  return p;
}
constexpr cudaDataType of(float) { return CUDA_R_32F; }
constexpr cudaDataType of(double) { return CUDA_R_64F; }
constexpr cudaDataType of(std::complex<float>) { return CUDA_C_32F; }
constexpr cudaDataType of(std::complex<double>) { return CUDA_C_64F; }

template <class T>
void solutions() {
  using N = Names<T>;
  const Matrix<T> a = definite<T>(), x(n, kColumns), b = a * x, general(n, n);
  int size = -1;
  for (const auto side : {kUp, kLow}) {
    Matrix<T> f = a.copy(), y = b.copy();
    done((info[0] = 0, N::potrf_size(h, side, n, c(f.v), n, &size)), "potrf_bufferSize");
    expect(size > 0, "size of potrf");
    T* work = array<T>(size);
    done(N::potrf(h, side, n, c(f.v), n, c(work), size, info), "potrf");
    done(N::potrs(h, side, n, kColumns, c(f.v), n, c(y.v), n, info), "potrs");
    near(y, x, "potrs");
    done(N::potri(h, side, n, c(f.v), n, c(work), size, info), "potri");
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < j; ++i) (side == kUp ? f(j, i) : f(i, j)) = conjugate(side == kUp ? f(i, j) : f(j, i));
    near(a * f, unit<T>(n), "potri");
  }
  Matrix<T> f = general.copy(), y = general * x;
  int* pivots = array<int>(n);
  done((info[0] = 0, N::getrf_size(h, n, n, c(f.v), n, &size)), "getrf_bufferSize");
  T* work = array<T>(size);
  done(N::getrf(h, n, n, c(f.v), n, c(work), pivots, info), "getrf");
  done(N::getrs(h, CUBLAS_OP_N, n, kColumns, c(f.v), n, pivots, c(y.v), n, info), "getrs");
  near(y, x, "getrs");
  Matrix<T> z = general.adjoint() * x;
  done(N::getrs(h, CUBLAS_OP_C, n, kColumns, c(f.v), n, pivots, c(z.v), n, info), "getrs C");
  near(z, x, "getrs C");
  f = a.copy(), y = b.copy();
  done(N::getrf(h, n, n, c(f.v), n, c(work), nullptr, info), "getrf without pivots");
  done(N::getrs(h, CUBLAS_OP_N, n, kColumns, c(f.v), n, nullptr, c(y.v), n, info), "getrs without pivots");
  near(y, x, "getrs without pivots");

  T** as = array<T*>(kBatch);
  T** bs = array<T*>(kBatch);
  std::vector<Matrix<T>> keep;
  for (int i = 0; i < kBatch; ++i) {
    keep.push_back(a.copy()), keep.push_back((a * Matrix<T>(n, 1)).copy());
    as[i] = keep[2 * i].v, bs[i] = keep[2 * i + 1].v;
  }
  auto** ca = reinterpret_cast<typename N::type**>(as);
  auto** cb = reinterpret_cast<typename N::type**>(bs);
  done(N::potrf_batched(h, kLow, n, ca, n, info, kBatch), "potrfBatched", kBatch);
  done(N::potrs_batched(h, kLow, n, 1, ca, n, cb, n, info, kBatch), "potrsBatched");
  for (int i = 0; i < kBatch; ++i) near(keep[2 * i + 1], Matrix<T>(n, 1), "potrsBatched");

  int rounds = -7;
  Matrix<T> a2 = general.copy(), b2 = general * x, x2(n, kColumns);
  std::fill_n(x2.v, n * kColumns, T{});
  done(N::gesv(h, n, kColumns, c(a2.v), n, pivots, c(b2.v), n, c(x2.v), n, work, 64, &rounds, info), "gesv");
  near(x2, x, "gesv");
  expect(rounds >= 0, "rounds of gesv");
  Matrix<T> tall(m, n), right = tall * x;
  std::fill_n(x2.v, n * kColumns, T{});
  done(N::gels(h, m, n, kColumns, c(tall.v), m, c(right.v), m, c(x2.v), n, work, 64, &rounds, info), "gels");
  near(x2, x, "gels");
}

template <class T>
void orthogonal() {
  using N = Names<T>;
  using R = RealOf<T>;
  const Matrix<T> a(m, n);
  Matrix<T> f = a.copy();
  T* tau = array<T>(m);
  T* tau2 = array<T>(m);
  int size = 0;
  done((info[0] = 0, N::geqrf_size(h, m, n, c(f.v), m, &size)), "geqrf_bufferSize");
  T* work = array<T>(size);
  done(N::geqrf(h, m, n, c(f.v), m, c(tau), c(work), size, info), "geqrf");
  Matrix<T> r(n, n), q = f.copy(), qa = a.copy();
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) r(i, j) = i <= j ? f(i, j) : T{};
  done(N::orgqr(h, m, n, n, c(q.v), m, c(tau), c(work), size, info), "orgqr");
  near(q * r, a, "orgqr");
  near(q.adjoint() * q, unit<T>(n), "orgqr, orthogonal");
  const auto adjoint = std::is_same_v<T, R> ? CUBLAS_OP_T : CUBLAS_OP_C;
  done(N::ormqr(h, CUBLAS_SIDE_LEFT, adjoint, m, n, n, c(f.v), m, c(tau), c(qa.v), m, c(work), size, info), "ormqr");
  for (int j = 0; j < n; ++j)
    for (int i = n; i < m; ++i) expect(std::abs(qa(i, j)) < 1e-5, "ormqr, below");
  Matrix<T> top(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) top(i, j) = qa(i, j);
  near(top, r, "ormqr");

  const Matrix<T> s = definite<T>();
  R *d = array<R>(n), *e = array<R>(n);
  for (const auto side : {kUp, kLow}) {
    Matrix<T> t = s.copy(), three = diagonal<T>(n, n, std::vector<R>(n).data());
    done(N::sytrd(h, side, n, c(t.v), n, d, e, c(tau), c(work), size, info), "sytrd");
    done(N::orgtr(h, side, n, c(t.v), n, c(tau), c(work), size, info), "orgtr");
    for (int i = 0; i < n; ++i) three(i, i) = d[i];
    for (int i = 0; i + 1 < n; ++i) three(i, i + 1) = three(i + 1, i) = e[i];
    near(t * three * t.adjoint(), s, "sytrd, orgtr");
  }
  Matrix<T> g = a.copy();
  done(N::gebrd(h, m, n, c(g.v), m, d, e, c(tau), c(tau2), c(work), size, info), "gebrd");
  Matrix<T> p(n, n), two = diagonal<T>(n, n, d);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) p(i, j) = g(i, j);
  for (int i = 0; i + 1 < n; ++i) two(i, i + 1) = e[i];
  done(N::orgbr(h, CUBLAS_SIDE_LEFT, m, n, n, c(g.v), m, c(tau), c(work), size, info), "orgbr Q");
  done(N::orgbr(h, CUBLAS_SIDE_RIGHT, n, n, m, c(p.v), n, c(tau2), c(work), size, info), "orgbr P");
  near(g * two * p, a, "gebrd, orgbr");
}

template <class T>
void eigenvalues() {
  using N = Names<T>;
  using R = RealOf<T>;
  const Matrix<T> a = definite<T>();
  R* w = array<R>(n * kBatch);
  int size = 0;
  syevjInfo_t rotations;
  expect(cusolverDnCreateSyevjInfo(&rotations) == CUSOLVER_STATUS_SUCCESS, "syevjInfo");
  expect(cusolverDnXsyevjSetTolerance(rotations, 1e-7) == CUSOLVER_STATUS_SUCCESS, "tolerance");
  const auto right = [&](Matrix<T>& v, const char* what) {
    near(v * diagonal<T>(n, n, w) * v.adjoint(), a, what);
    expect(std::is_sorted(w, w + n), what);
  };
  for (const auto side : {kUp, kLow}) {
    Matrix<T> v = a.copy();
    for (int j = 0; j < n; ++j)  // the other triangle is not read
      for (int i = 0; i < j; ++i) (side == kUp ? v(j, i) : v(i, j)) = T(99);
    Matrix<T> v2 = v.copy(), v3 = v.copy();
    done((info[0] = 0, N::syevd_size(h, kVectors, side, n, c(v.v), n, w, &size)), "syevd_bufferSize");
    T* work = array<T>(size);
    done(N::syevd(h, kVectors, side, n, c(v.v), n, w, c(work), size, info), "syevd");
    right(v, "syevd");
    const std::vector<R> before(w, w + n);
    done(N::syevj(h, kVectors, side, n, c(v2.v), n, w, c(work), size, info, rotations), "syevj");
    right(v2, "syevj");
    int found = -1;
    done(N::syevdx(h, kVectors, CUSOLVER_EIG_RANGE_I, side, n, c(v3.v), n, R{}, R{}, 2, 3, &found, w, c(work), size,
                   info),
         "syevdx");
    expect(found == 2 && std::abs(w[0] - before[1]) < 1e-4 && std::abs(w[1] - before[2]) < 1e-4, "syevdx");
  }
  Matrix<T> many(n, n * kBatch);
  for (int i = 0; i < kBatch; ++i) std::copy_n(a.v, n * n, many.v + i * n * n);
  T* work = array<T>(size);
  done(N::syevj_batched(h, kVectors, kLow, n, c(many.v), n, w, c(work), size, info, rotations, kBatch), "syevjBatched",
       kBatch);
  for (int i = 0; i < kBatch; ++i) {
    Matrix<T> v(n, n);
    std::copy_n(many.v + i * n * n, n * n, v.v);
    std::copy_n(w + i * n, n, w);
    right(v, "syevjBatched");
  }
  Matrix<T> b = definite<T>(), v(n, n), left = definite<T>();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) v(i, j) = left(i, j) = (entry<T>(i, j) + conjugate(entry<T>(j, i))) / RealOf<T>(2);
  Matrix<T> factors = b.copy();
  done(N::sygvd(h, CUSOLVER_EIG_TYPE_1, kVectors, kLow, n, c(v.v), n, c(factors.v), n, w, c(work), size, info),
       "sygvd");
  near(left * v, b * v * diagonal<T>(n, n, w), "sygvd");

  cusolverDnParams_t params;
  expect(cusolverDnCreateParams(&params) == CUSOLVER_STATUS_SUCCESS, "params");
  size_t on_device = 0, on_host = 99;
  Matrix<T> x = a.copy();
  done((info[0] = 0, cusolverDnXsyevd_bufferSize(h, params, kVectors, kLow, n, of(T{}), x.v, n, of(R{}), w, of(T{}),
                                                 &on_device, &on_host)),
       "Xsyevd_bufferSize");
  done(cusolverDnXsyevd(h, params, kVectors, kLow, n, of(T{}), x.v, n, of(R{}), w, of(T{}), work, on_device, nullptr,
                        on_host, info),
       "Xsyevd");
  right(x, "Xsyevd");
  int64_t* pivots = array<int64_t>(n);
  Matrix<T> f = a.copy(), y = a * Matrix<T>(n, kColumns);
  done(cusolverDnXgetrf(h, params, n, n, of(T{}), f.v, n, pivots, of(T{}), work, 64, nullptr, 0, info), "Xgetrf");
  done(cusolverDnXgetrs(h, params, CUBLAS_OP_N, n, kColumns, of(T{}), f.v, n, pivots, of(T{}), y.v, n, info), "Xgetrs");
  near(y, Matrix<T>(n, kColumns), "Xgetrs");
  expect(cusolverDnDestroyParams(params) == CUSOLVER_STATUS_SUCCESS, "params");
  expect(cusolverDnDestroySyevjInfo(rotations) == CUSOLVER_STATUS_SUCCESS, "syevjInfo");
}

template <class T>
void singular_values() {
  using N = Names<T>;
  using R = RealOf<T>;
  const Matrix<T> a(m, n);
  Matrix<T> f = a.copy(), u(m, m), vt(n, n), v(n, n);
  R* s = array<R>(n * kBatch);
  int size = 0;
  done((info[0] = 0, N::gesvd_size(h, m, n, &size)), "gesvd_bufferSize");
  T* work = array<T>(size);
  const auto falling = [&] { return std::is_sorted(s, s + n, [](R x, R y) { return x > y; }); };
  done(N::gesvd(h, 'A', 'A', m, n, c(f.v), m, s, c(u.v), m, c(vt.v), n, c(work), size, nullptr, info), "gesvd");
  near(u * diagonal<T>(m, n, s) * vt, a, "gesvd");
  near(u.adjoint() * u, unit<T>(m), "gesvd, orthogonal");
  expect(falling(), "gesvd, order");
  gesvdjInfo_t rotations;
  expect(cusolverDnCreateGesvdjInfo(&rotations) == CUSOLVER_STATUS_SUCCESS, "gesvdjInfo");
  f = a.copy();
  done(N::gesvdj(h, kVectors, 0, m, n, c(f.v), m, s, c(u.v), m, c(v.v), n, c(work), size, info, rotations), "gesvdj");
  near(u * diagonal<T>(m, n, s) * v.adjoint(), a, "gesvdj");
  Matrix<T> wide(n, m), u5(n, n), v7(m, n);
  f = wide.copy();
  done(N::gesvdj(h, kVectors, 1, n, m, c(f.v), n, s, c(u5.v), n, c(v7.v), m, c(work), size, info, rotations),
       "gesvdj of a wide matrix");
  near(u5 * diagonal<T>(n, n, s) * v7.adjoint(), wide, "gesvdj of a wide matrix");

  Matrix<T> many(m, n * kBatch), us(m, m * kBatch), vs(n, n * kBatch);
  for (int i = 0; i < kBatch; ++i) std::copy_n(a.v, m * n, many.v + i * m * n);
  done(N::gesvda(h, kVectors, n, m, n, c(many.v), m, m * n, s, n, c(us.v), m, m * m, c(vs.v), n, n * n, c(work), size,
                 info, nullptr, kBatch),
       "gesvdaStridedBatched", kBatch);
  Matrix<T> u_part(m, n);
  std::copy_n(us.v + m * m, m * n, u_part.v), std::copy_n(vs.v + n * n, n * n, v.v);
  near(u_part * diagonal<T>(n, n, s + n) * v.adjoint(), a, "gesvdaStridedBatched");
  done(N::gesvdj_batched(h, kVectors, m, n, c(many.v), m, s, c(us.v), m, c(vs.v), n, c(work), size, info, rotations,
                         kBatch),
       "gesvdjBatched", kBatch);
  for (int i = 0; i < kBatch; ++i) {
    std::copy_n(us.v + i * m * m, m * m, u.v), std::copy_n(vs.v + i * n * n, n * n, v.v);
    near(u * diagonal<T>(m, n, s + i * n) * v.adjoint(), a, "gesvdjBatched");
  }
  expect(cusolverDnDestroyGesvdjInfo(rotations) == CUSOLVER_STATUS_SUCCESS, "gesvdjInfo");
}

void refusals_and_graphs() {
  Matrix<double> a = definite<double>();
  double* work = array<double>(64);
  int size;
  expect(cusolverDnDpotrf_bufferSize(nullptr, kLow, n, a.v, n, &size) == CUSOLVER_STATUS_NOT_INITIALIZED, "no handle");
  // As an H200's cuSOLVER 12.0.4 answers (2026-11-29): sizes are not looked at before there is work.
  expect(cusolverDnDpotrf_bufferSize(h, kLow, -1, a.v, n, &size) == CUSOLVER_STATUS_SUCCESS, "a wrong size, asked");
  expect(cusolverDnDgeqrf_bufferSize(h, n, n, a.v, n - 1, &size) == CUSOLVER_STATUS_SUCCESS, "a wrong lda, asked");
  expect(cusolverDnDpotrf(h, kLow, n, a.v, n - 1, work, 64, info) == CUSOLVER_STATUS_INVALID_VALUE, "a wrong lda");
  expect(cusolverDnDgesvd_bufferSize(h, n, m, &size) == CUSOLVER_STATUS_SUCCESS, "more columns than rows, asked");
  Matrix<double> indefinite = a.copy();
  indefinite(2, 2) = -1;
  expect(cusolverDnDpotrf(h, kLow, n, indefinite.v, n, work, 64, info) == CUSOLVER_STATUS_SUCCESS, "indefinite");
  MUST(cudaDeviceSynchronize());
  expect(info[0] == 3, "info of an indefinite matrix");
  Matrix<double> zero(n, n);
  std::fill_n(zero.v, n * n, 0.0);
  int* pivots = array<int>(n);
  expect(cusolverDnDgetrf(h, n, n, zero.v, n, work, pivots, info) == CUSOLVER_STATUS_SUCCESS, "singular");
  MUST(cudaDeviceSynchronize());
  expect(info[0] == 1, "info of a singular matrix");

  cudaStream_t stream, got;
  MUST(cudaStreamCreate(&stream));
  expect(cusolverDnSetStream(h, stream) == CUSOLVER_STATUS_SUCCESS, "stream");
  expect(cusolverDnGetStream(h, &got) == CUSOLVER_STATUS_SUCCESS && got == stream, "stream");
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  Matrix<double> f(n, n);
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cudaMemcpyAsync(f.v, a.v, n * n * sizeof(double), cudaMemcpyDefault, stream));
  expect(cusolverDnDpotrf(h, kLow, n, f.v, n, work, 64, info) == CUSOLVER_STATUS_SUCCESS, "in a graph");
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) {
    info[0] = -99;
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    expect(info[0] == 0, "in a graph, info");
    for (int k = 0; k < n; ++k)
      for (int j = k + 1; j < n; ++j) f(k, j) = 0;
    near(f * f.adjoint(), a, "in a graph");
  }
  expect(cusolverDnSetStream(h, nullptr) == CUSOLVER_STATUS_SUCCESS, "stream");
}

// Functions whose types are arguments.
template <class T>
void of_any_type() {
  using N = Names<T>;
  using R = RealOf<T>;
  cusolverDnParams_t params;
  expect(cusolverDnCreateParams(&params) == CUSOLVER_STATUS_SUCCESS, "params");
  const auto type = of(T{}), real = of(R{});
  const Matrix<T> a(n, n), x(n, kColumns);
  T* work = array<T>(64);
  R* s = array<R>(n);

  // Symmetric, not hermitian.
  Matrix<T> symmetric(n, n), full(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) full(i, j) = symmetric(i, j) = a(i, j) + a(j, i);
  Matrix<T> y = full * x;
  int* order = array<int>(n);
  int64_t* pivots = array<int64_t>(n);
  done(N::sytrf(h, kLow, n, c(symmetric.v), n, order, c(work), 64, info), "sytrf");
  std::copy_n(order, n, pivots);
  done(cusolverDnXsytrs(h, kLow, n, kColumns, type, symmetric.v, n, pivots, type, y.v, n, work, 64, nullptr, 0, info),
       "Xsytrs");
  near(y, x, "Xsytrs");

  Matrix<T> lower(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) lower(i, j) = i < j ? T{} : i == j ? T(2) : entry<T>(i, j);
  Matrix<T> inverse = lower.copy();
  done(cusolverDnXtrtri(h, kLow, CUBLAS_DIAG_NON_UNIT, n, type, inverse.v, n, work, 64, nullptr, 0, info), "Xtrtri");
  near(lower * inverse, unit<T>(n), "Xtrtri");

  const Matrix<T> tall(m, n);
  Matrix<T> f = tall.copy(), u(m, n), v(n, n);
  double off = -1;
  done(cusolverDnXgesvdp(h, params, kVectors, 1, m, n, type, f.v, m, real, s, type, u.v, m, type, v.v, n, type, work, 64,
                         nullptr, 0, info, &off),
       "Xgesvdp");
  near(u * diagonal<T>(n, n, s) * v.adjoint(), tall, "Xgesvdp");
  f = tall.copy();
  done(cusolverDnXgesvd(h, params, 'S', 'S', m, n, type, f.v, m, real, s, type, u.v, m, type, v.v, n, type, work, 64,
                        nullptr, 0, info),
       "Xgesvd");
  near(u * diagonal<T>(n, n, s) * v, tall, "Xgesvd");

  // The sum of the eigenvalues is that of the diagonal.
  auto* w = array<std::complex<R>>(n);
  f = a.copy();
  done(cusolverDnXgeev(h, params, CUSOLVER_EIG_MODE_NOVECTOR, kVectors, n, type, f.v, n, of(std::complex<R>{}), w, type,
                       nullptr, n, type, v.v, n, type, work, 64, nullptr, 0, info),
       "Xgeev");
  std::complex<R> sum = 0;
  for (int i = 0; i < n; ++i) sum += w[i] - std::complex<R>(a(i, i));
  expect(std::abs(sum) < 1e-4, "Xgeev");
  if constexpr (!std::is_same_v<T, R>) near(a * v, v * [&] {
    Matrix<T> d(n, n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) d(i, j) = i == j ? w[i] : T{};
    return d;
  }(), "vectors of Xgeev");
  expect(cusolverDnDestroyParams(params) == CUSOLVER_STATUS_SUCCESS, "params");
}

template <class T>
void all() {
  solutions<T>(), orthogonal<T>(), eigenvalues<T>(), singular_values<T>(), of_any_type<T>();
}
}  // namespace

int main() {
  expect(cusolverDnCreate(&h) == CUSOLVER_STATUS_SUCCESS, "create");
  MUST(cudaMallocManaged(&info, kBatch * sizeof(int)));
  all<float>(), all<double>(), all<std::complex<float>>(), all<std::complex<double>>();
  refusals_and_graphs();
  expect(cusolverDnDestroy(h) == CUSOLVER_STATUS_SUCCESS, "destroy");
  std::printf("%s\n", good ? "all right" : "something is wrong");
  return good ? 0 : 1;
}
