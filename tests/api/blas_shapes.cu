// SPDX-License-Identifier: Apache-2.0
// flags: -lcublas
// needs: cublas_v2.h
// ours only: what is compared are whole numbers, which every order of adding gives exactly
// cuBLAS: matrices of a shape (banded, packed, symmetric, hermitian), rotations, batches of vectors, triangles and
// factors. Each is compared with the same by a full matrix, or with what its definition says.
#include <cublas_v2.h>

#include <complex>
#include <vector>

#include "api.h"

namespace {
using C = std::complex<double>;
bool good = true;
cublasHandle_t h;
constexpr int n = 5, kBand = 2;
const auto kUp = CUBLAS_FILL_MODE_UPPER, kLow = CUBLAS_FILL_MODE_LOWER;

void expect(bool right, const char* what) {
  if (right) return;
  std::printf("WRONG: %s\n", what);
  good = false;
}
void done(cublasStatus_t s, const char* what) {
  if (s != CUBLAS_STATUS_SUCCESS) std::printf("%s: %s\n", what, cublasGetStatusName(s));
  expect(s == CUBLAS_STATUS_SUCCESS, what);
  MUST(cudaDeviceSynchronize());
}
template <class T>
T* managed(size_t count) {
  T* p;
  MUST(cudaMallocManaged(&p, count * sizeof(T)));
  return p;
}
cuDoubleComplex* z(C* p) { return reinterpret_cast<cuDoubleComplex*>(p); }
const cuDoubleComplex* z(const C* p) { return reinterpret_cast<const cuDoubleComplex*>(p); }
double entry(int i) { return i * 7 % 11 - 5; }

// A full matrix, by columns.
template <class T>
struct Full {
  T v[n * n] = {};
  T& operator()(int i, int j) { return v[j * n + i]; }
  // y = 2 a x + 3 y with x[i] = entry(i), y[i] = entry(i + 1)
  bool product(const T* y) {
    bool right = true;
    for (int i = 0; i < n; ++i) {
      T want = 3.0 * entry(i + 1);
      for (int j = 0; j < n; ++j) want += 2.0 * (*this)(i, j) * entry(j);
      right = right && y[i] == want;
    }
    return right;
  }
};
template <class T>
Full<T> full(bool symmetric, bool hermitian, int below, int above) {
  Full<T> a;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      if (i - j > below || j - i > above) continue;
      const int lower = i > j ? i * n + j : j * n + i;
      const double size = symmetric ? entry(lower) : entry(i * n + j);
      a(i, j) = size;
      if constexpr (std::is_same_v<T, C>)
        if (i != j || !hermitian) a(i, j) = C(size, entry(lower + 2) * (hermitian && i > j ? -1 : 1));
    }
  return a;
}
template <class T>
T* banded(Full<T> a, int below, int above, int top) {  // the diagonal lies in row `top`
  T* p = managed<T>(n * (kBand + 4));
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (i - j <= below && j - i <= above) p[j * (kBand + 4) + top + i - j] = a(i, j);
  return p;
}
template <class T>
T* packed(Full<T> a, bool upper) {
  T* p = managed<T>(n * n);
  int k = 0;
  for (int j = 0; j < n; ++j)
    for (int i = upper ? 0 : j; i < (upper ? j + 1 : n); ++i) p[k++] = a(i, j);
  return p;
}
template <class T>
T* stored(Full<T> a) {
  T* p = managed<T>(n * n);
  for (int i = 0; i < n * n; ++i) p[i] = a.v[i];
  return p;
}
template <class T>
T* sequence(int from) {
  T* p = managed<T>(n);
  for (int i = 0; i < n; ++i) p[i] = entry(i + from);
  return p;
}

void products() {
  const double alpha = 2, beta = 3;
  const C za = 2, zb = 3;
  double *x = sequence<double>(0), *y = sequence<double>(1);
  const auto fresh = [&] { for (int i = 0; i < n; ++i) y[i] = entry(i + 1); };
  auto a = full<double>(false, false, 1, kBand);
  done(cublasDgbmv(h, CUBLAS_OP_N, n, n, 1, kBand, &alpha, banded(a, 1, kBand, kBand), kBand + 4, x, 1, &beta, y, 1), "gbmv");
  expect(a.product(y), "gbmv");
  a = full<double>(true, false, n, n), fresh();
  done(cublasDsymv(h, kLow, n, &alpha, stored(a), n, x, 1, &beta, y, 1), "symv");
  expect(a.product(y), "symv");
  fresh();
  done(cublasDspmv(h, kUp, n, &alpha, packed(a, true), x, 1, &beta, y, 1), "spmv");
  expect(a.product(y), "spmv");
  a = full<double>(true, false, kBand, kBand), fresh();
  done(cublasDsbmv(h, kLow, n, kBand, &alpha, banded(a, kBand, 0, 0), kBand + 4, x, 1, &beta, y, 1), "sbmv");
  expect(a.product(y), "sbmv");

  C *u = sequence<C>(0), *v = sequence<C>(1);
  const auto again = [&] { for (int i = 0; i < n; ++i) v[i] = entry(i + 1); };
  auto b = full<C>(true, false, n, n);
  done(cublasZsymv(h, kUp, n, z(&za), z(stored(b)), n, z(u), 1, z(&zb), z(v), 1), "complex symv");
  expect(b.product(v), "complex symv");
  b = full<C>(true, true, n, n), again();
  done(cublasZhemv(h, kUp, n, z(&za), z(stored(b)), n, z(u), 1, z(&zb), z(v), 1), "hemv");
  expect(b.product(v), "hemv");
  again();
  done(cublasZhpmv(h, kLow, n, z(&za), z(packed(b, false)), z(u), 1, z(&zb), z(v), 1), "hpmv");
  expect(b.product(v), "hpmv");
  b = full<C>(true, true, kBand, kBand), again();
  done(cublasZhbmv(h, kUp, n, kBand, z(&za), z(banded(b, 0, kBand, kBand)), kBand + 4, z(u), 1, z(&zb), z(v), 1), "hbmv");
  expect(b.product(v), "hbmv");
}

// A triangle times a vector, and the vector back.
void triangles() {
  auto a = full<double>(false, false, 0, kBand);
  for (int i = 0; i < n; ++i) a(i, i) = i % 2 ? 2 : -1;
  double *x = sequence<double>(3), *band = banded(a, 0, kBand, kBand), *rows = packed(a, true);
  const auto times = [&] {
    bool right = true;
    for (int i = 0; i < n; ++i) {
      double want = 0;
      for (int j = 0; j < n; ++j) want += a(i, j) * entry(j + 3);
      right = right && x[i] == want;
    }
    return right;
  };
  const auto back = [&] {
    bool right = true;
    for (int i = 0; i < n; ++i) right = right && x[i] == entry(i + 3);
    return right;
  };
  const auto none = CUBLAS_DIAG_NON_UNIT;
  done(cublasDtbmv(h, kUp, CUBLAS_OP_N, none, n, kBand, band, kBand + 4, x, 1), "tbmv");
  expect(times(), "tbmv");
  done(cublasDtbsv(h, kUp, CUBLAS_OP_N, none, n, kBand, band, kBand + 4, x, 1), "tbsv");
  expect(back(), "tbsv");
  done(cublasDtpmv(h, kUp, CUBLAS_OP_N, none, n, rows, x, 1), "tpmv");
  expect(times(), "tpmv");
  done(cublasDtpsv(h, kUp, CUBLAS_OP_N, none, n, rows, x, 1), "tpsv");
  expect(back(), "tpsv");
  double* all = managed<double>(n * n);
  done(cublasDtpttr(h, kUp, n, rows, all, n), "tpttr");
  for (int j = 0; j < n; ++j) expect(all[j * n + j] == a(j, j) && (j == 0 || all[j * n] == a(0, j)), "tpttr");
}

// a += 2 x x' and a += 2 (x y' + y x'); hermitian: with conjugates.
void changes() {
  const double alpha = 2;
  const C za(2, 1);
  const auto a = full<double>(true, false, n, n);
  double *x = sequence<double>(0), *y = sequence<double>(4), *p = stored(a), *q = packed(a, false);
  done(cublasDsyr(h, kLow, n, &alpha, x, 1, p, n), "syr");
  done(cublasDsyr2(h, kLow, n, &alpha, x, 1, y, 1, p, n), "syr2");
  done(cublasDspr(h, kLow, n, &alpha, x, 1, q), "spr");
  done(cublasDspr2(h, kLow, n, &alpha, x, 1, y, 1, q), "spr2");
  int k = 0;
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      const double want = a.v[j * n + i] + 2 * x[i] * x[j] + 2 * (x[i] * y[j] + y[i] * x[j]);
      expect(p[j * n + i] == want && q[k++] == want, "syr, syr2, spr, spr2");
    }
  auto b = full<C>(true, true, n, n);
  C *u = sequence<C>(0), *v = sequence<C>(4), *s = stored(b), *t = stored(b);
  for (int i = 0; i < n; ++i) u[i] += C(0, entry(i + 2));
  done(cublasZher(h, kUp, n, &alpha, z(u), 1, z(s), n), "her");
  done(cublasZher2(h, kUp, n, z(&za), z(u), 1, z(v), 1, z(s), n), "her2");
  done(cublasZsyr2(h, kUp, n, z(&za), z(u), 1, z(v), 1, z(t), n), "complex syr2");
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) {
      const C her = 2.0 * u[i] * std::conj(u[j]) + za * u[i] * std::conj(v[j]) + std::conj(za) * v[i] * std::conj(u[j]);
      expect(s[j * n + i] == b(i, j) + her, "her, her2");
      expect(t[j * n + i] == b(i, j) + za * u[i] * v[j] + za * v[i] * u[j], "complex syr2");
    }
}

void products_of_matrices() {
  const C one = 1, none = 0, za(2, 1);
  const double real = 2, zero = 0;
  auto a = full<C>(true, true, n, n), b = full<C>(false, false, n, n);
  C *p = stored(a), *q = stored(b), *c = managed<C>(n * n), *d = managed<C>(n * n);
  const auto times = [&](C* x, bool conjugate_right, C* y, int i, int j) {  // x y or x y'
    C sum = 0;
    for (int k = 0; k < n; ++k) sum += x[k * n + i] * (conjugate_right ? std::conj(y[k * n + j]) : y[j * n + k]);
    return sum;
  };
  done(cublasZhemm(h, CUBLAS_SIDE_LEFT, kUp, n, n, z(&one), z(p), n, z(q), n, z(&none), z(c), n), "hemm");
  for (int i = 0; i < n * n; ++i) expect(c[i] == times(p, false, q, i % n, i / n), "hemm");
  done(cublasZherk(h, kLow, CUBLAS_OP_N, n, n, &real, z(q), n, &zero, z(c), n), "herk");
  done(cublasZherkx(h, kLow, CUBLAS_OP_N, n, n, z(&one), z(q), n, z(q), n, &zero, z(d), n), "herkx");
  for (int i = 2; i < n; ++i) expect(c[n + i] == 2.0 * times(q, true, q, i, 1) && d[n + i] * 2.0 == c[n + i], "herk, herkx");
  done(cublasZher2k(h, kLow, CUBLAS_OP_N, n, n, z(&za), z(p), n, z(q), n, &zero, z(c), n), "her2k");
  for (int i = 1; i < n; ++i)
    expect(c[i] == za * times(p, true, q, i, 0) + std::conj(za) * times(q, true, p, i, 0), "her2k");
  done(cublasZdgmm(h, CUBLAS_SIDE_RIGHT, n, n, z(q), n, z(p), 1, z(c), n), "dgmm");
  for (int i = 0; i < n * n; ++i) expect(c[i] == q[i] * p[i / n], "dgmm");
  done(cublasZgemm3m(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, z(&one), z(p), n, z(q), n, z(&none), z(c), n), "gemm3m");
  expect(c[n + 2] == times(p, false, q, 2, 1), "gemm3m");
}

void rotations() {
  double *x = sequence<double>(0), *y = sequence<double>(1);
  double a = 3, b = 4, c = 0, s = 0;
  done(cublasDrotg(h, &a, &b, &c, &s), "rotg");
  expect(std::abs(a - 5) < 1e-14 && std::abs(c - 0.6) < 1e-15 && std::abs(s - 0.8) < 1e-15, "rotg");
  c = 2, s = -1;
  done(cublasDrot(h, n, x, 1, y, -1, &c, &s), "rot");
  for (int i = 0; i < n; ++i) {
    const double u = entry(i), v = entry(n - i);  // y backwards
    expect(x[i] == 2 * u - v && y[n - 1 - i] == 2 * v + u, "rot");
  }
  C *p = sequence<C>(0), *q = sequence<C>(1);
  const C zs(1, 2);
  done(cublasZrot(h, n, z(p), 1, z(q), 1, &c, z(&zs)), "complex rot");
  for (int i = 0; i < n; ++i)
    expect(p[i] == 2 * entry(i) + zs * entry(i + 1) && q[i] == 2 * entry(i + 1) - std::conj(zs) * entry(i), "complex rot");
  const double how[] = {-1, 2, 3, 4, 5};  // h11 h21 h12 h22
  x = sequence<double>(0), y = sequence<double>(1);
  done(cublasDrotm(h, n, x, 1, y, 1, how), "rotm");
  for (int i = 0; i < n; ++i)
    expect(x[i] == 2 * entry(i) + 4 * entry(i + 1) && y[i] == 3 * entry(i) + 5 * entry(i + 1), "rotm");
}

// [2 1; 4 3] by rows, and the same with the rows exchanged.
void batches() {
  const double one = 1, zero = 0;
  double* m = managed<double>(40);
  auto** at = managed<double*>(8);
  int *pivots = managed<int>(4), *info = managed<int>(2), wrong = 9;
  const double first[] = {2, 4, 1, 3}, second[] = {4, 2, 3, 1};
  for (int i = 0; i < 4; ++i) m[i] = first[i], m[4 + i] = second[i];
  const double sides[] = {4, 10, 10, 4};  // the product with (1, 2)
  for (int i = 0; i < 4; ++i) m[8 + i] = sides[i];
  for (int i = 0; i < 2; ++i) at[i] = m + 4 * i, at[2 + i] = m + 8 + 2 * i, at[4 + i] = m + 12 + 4 * i, at[6 + i] = m + 20 + 2 * i;
  m[20] = m[22] = 1, m[21] = m[23] = 2;
  done(cublasDgemvBatched(h, CUBLAS_OP_N, 2, 2, &one, at, 2, at + 6, 1, &zero, at + 4, 1, 2), "gemvBatched");
  expect(m[12] == 4 && m[13] == 10 && m[16] == 10 && m[17] == 4, "gemvBatched");
  done(cublasDgemvStridedBatched(h, CUBLAS_OP_T, 2, 2, &one, m, 2, 4, m + 20, 1, 2, &zero, m + 24, 1, 2, 2), "gemvStridedBatched");
  expect(m[24] == 10 && m[25] == 7 && m[26] == 8 && m[27] == 5, "gemvStridedBatched");
  done(cublasDmatinvBatched(h, 2, at, 2, at + 4, 2, info, 2), "matinvBatched");
  expect(m[12] == 1.5 && m[13] == -2 && m[14] == -0.5 && m[15] == 1 && !info[0] && !info[1], "matinvBatched");
  done(cublasDgetrfBatched(h, 2, at, 2, pivots, info, 2), "getrfBatched");
  expect(m[0] == 4 && m[1] == 0.5 && m[2] == 3 && m[3] == -0.5, "factors");
  expect(pivots[0] == 2 && pivots[1] == 2 && pivots[2] == 1 && !info[0], "pivots");
  done(cublasDgetrsBatched(h, CUBLAS_OP_N, 2, 1, at, 2, pivots, at + 2, 2, &wrong, 2), "getrsBatched");
  expect(m[8] == 1 && m[9] == 2 && m[10] == 1 && m[11] == 2 && wrong == 0, "getrsBatched");
  m[8] = 10, m[9] = 7;
  done(cublasDgetrsBatched(h, CUBLAS_OP_T, 2, 1, at, 2, pivots, at + 2, 2, &wrong, 1), "getrsBatched, transposed");
  expect(m[8] == 1 && m[9] == 2, "getrsBatched, transposed");
  done(cublasDgetriBatched(h, 2, at, 2, pivots, at + 4, 2, info, 2), "getriBatched");
  expect(m[12] == 1.5 && m[13] == -2 && m[14] == -0.5 && m[15] == 1, "getriBatched");
  m[0] = m[1] = m[2] = m[3] = 1;
  done(cublasDgetrfBatched(h, 2, at, 2, nullptr, info, 1), "getrfBatched, singular");
  expect(info[0] == 2, "getrfBatched, singular");
  m[0] = 2, m[1] = 1, m[3] = 1, m[8] = 4, m[9] = 3;
  done(cublasDtrsmBatched(h, CUBLAS_SIDE_LEFT, kLow, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 2, 1, &one, at, 2, at + 2, 2, 1), "trsmBatched");
  expect(m[8] == 2 && m[9] == 1, "trsmBatched");
  expect(cublasDmatinvBatched(h, 33, at, 33, at, 33, info, 1) == CUBLAS_STATUS_INVALID_VALUE, "matinv of 33");
}
}  // namespace

int main() {
  done(cublasCreate(&h), "create");
  products();
  triangles();
  changes();
  products_of_matrices();
  rotations();
  batches();
  done(cublasDestroy(h), "destroy");
  std::printf("%s\n", good ? "right" : "wrong");
  return good ? 0 : 1;
}
