// SPDX-License-Identifier: Apache-2.0
// BLAS multiplies what it has types for. Numbers of 16 bits are widened, added in 32 bits and rounded once; those of 8
// bits are added in 64 bits, which is exact.
#include "cuda/libcublas/products.h"

#include <cblas.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "numerics/numerics.h"

namespace us::cublas {
namespace {

CBLAS_TRANSPOSE of(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? CblasNoTrans : op == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}

template <class W>
void gemm(const Product& p, W alpha, const W* a, int lda, const W* b, int ldb, W beta, W* c, int ldc) {
  const auto ta = of(p.op_a), tb = of(p.op_b);
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  if constexpr (std::is_same_v<W, float>)
    cblas_sgemm(CblasColMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  else if constexpr (std::is_same_v<W, double>)
    cblas_dgemm(CblasColMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  else if constexpr (std::is_same_v<W, Single>)
    cblas_cgemm(CblasColMajor, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
  else
    cblas_zgemm(CblasColMajor, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

template <class T>
T load(const void* p, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(p) + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void store(void* p, int64_t i, T value) {
  std::memcpy(static_cast<char*>(p) + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

u16 narrow(double x, numerics::Format f) {
  return static_cast<u16>(numerics::narrow(x, 0, f, numerics::Round::Nearest));
}

}  // namespace

double number(const void* p, cudaDataType type, int64_t i) {
  switch (type) {
    case CUDA_R_16F:
      return numerics::widen(load<u16>(p, i), numerics::kF16);
    case CUDA_R_16BF:
      return numerics::widen(load<u16>(p, i), numerics::kBF16);
    case CUDA_R_32F:
      return load<float>(p, i);
    case CUDA_R_64F:
      return load<double>(p, i);
    case CUDA_R_32I:
      return load<int32_t>(p, i);
    case CUDA_R_8F_E4M3:
      return numerics::widen(numerics::e4m3_to_f16(load<u8>(p, i), 0, 0), numerics::kF16);
    case CUDA_R_8F_E5M2:
      return numerics::widen(numerics::e5m2_to_f16(load<u8>(p, i), 0, 0), numerics::kF16);
    default:
      return load<int8_t>(p, i);
  }
}
void put(void* p, cudaDataType type, int64_t i, double x) {
  switch (type) {
    case CUDA_R_16F:
      return store(p, i, narrow(x, numerics::kF16));
    case CUDA_R_16BF:
      return store(p, i, narrow(x, numerics::kBF16));
    case CUDA_R_32F:
      return store(p, i, static_cast<float>(x));
    case CUDA_R_64F:
      return store(p, i, x);
    case CUDA_R_8F_E4M3:
      return store(p, i, static_cast<u8>(numerics::f32_to_e4m3(std::bit_cast<u32>(static_cast<float>(x)), 0, 0)));
    case CUDA_R_8F_E5M2:
      return store(p, i, static_cast<u8>(numerics::f32_to_e5m2(std::bit_cast<u32>(static_cast<float>(x)), 0, 0)));
    case CUDA_R_8I:
      return store(p, i, static_cast<int8_t>(std::nearbyint(std::clamp(x, -128.0, 127.0))));
    default:
      return store(p, i, static_cast<int32_t>(static_cast<int64_t>(x)));
  }
}

namespace {

// Numbers as BLAS takes them: where they lie, or a copy.
template <class W>
struct Numbers {
  Numbers(const void* p, cudaDataType type, cudaDataType own, int64_t rows, int64_t columns, int64_t ld)
      : at(static_cast<const W*>(p)), ld(static_cast<int>(ld)) {
    if (type == own) return;
    copy.reserve(static_cast<size_t>(rows * columns));
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = 0; r < rows; ++r) copy.push_back(static_cast<W>(number(p, type, c * ld + r)));
    at = copy.data();
    this->ld = static_cast<int>(std::max<int64_t>(1, rows));
  }
  const W* at;
  int ld;
  std::vector<W> copy;
};

template <class W>
void multiply_as(cudaDataType own, const Product& p, const void* alpha, const void* a, const void* b, const void* beta,
                 void* c) {
  const bool plain_a = p.op_a == CUBLAS_OP_N, plain_b = p.op_b == CUBLAS_OP_N;
  const Numbers<W> x(a, p.a, own, plain_a ? p.m : p.k, plain_a ? p.k : p.m, p.lda);
  const Numbers<W> y(b, p.b, own, plain_b ? p.k : p.n, plain_b ? p.n : p.k, p.ldb);
  if (p.c == own)
    return gemm<W>(p, load<W>(alpha, 0), x.at, x.ld, y.at, y.ld, load<W>(beta, 0), static_cast<W*>(c),
                   static_cast<int>(p.ldc));
  if constexpr (std::is_floating_point_v<W>) {
    std::vector<W> sums(static_cast<size_t>(p.m * p.n));
    gemm<W>(p, 1, x.at, x.ld, y.at, y.ld, 0, sums.data(), static_cast<int>(std::max<int64_t>(1, p.m)));
    const double by = number(alpha, p.scale, 0), old = number(beta, p.scale, 0);
    for (int64_t j = 0; j < p.n; ++j)
      for (int64_t i = 0; i < p.m; ++i) {
        const int64_t at = j * p.ldc + i;
        const double sum = by * static_cast<double>(sums[static_cast<size_t>(j * p.m + i)]);
        put(c, p.c, at, old == 0 ? sum : sum + old * number(c, p.c, at));
      }
  }
}

// The type in which sums are kept.
cudaDataType kept_in(const Product& p) {
  if (p.c == CUDA_C_32F || p.c == CUDA_C_64F || p.c == CUDA_R_64F) return p.c;
  return p.a == CUDA_R_8I ? CUDA_R_64F : CUDA_R_32F;
}

}  // namespace

size_t bytes_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
      return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    default:
      return 16;
  }
}

bool knows(const Product& p) {
  if (p.a != p.b) return false;
  switch (p.c) {
    case CUDA_C_32F:
    case CUDA_C_64F:
    case CUDA_R_64F:
      return p.a == p.c && p.scale == p.c;
    case CUDA_R_32I:
      return p.a == CUDA_R_8I && p.scale == CUDA_R_32I;
    case CUDA_R_16F:
      return p.a == CUDA_R_16F && (p.scale == CUDA_R_16F || p.scale == CUDA_R_32F);
    case CUDA_R_16BF:
      return p.a == CUDA_R_16BF && p.scale == CUDA_R_32F;
    case CUDA_R_32F:
      return p.scale == CUDA_R_32F &&
             (p.a == CUDA_R_32F || p.a == CUDA_R_16F || p.a == CUDA_R_16BF || p.a == CUDA_R_8I);
    default:
      return false;
  }
}

cublasStatus_t check(cublasHandle_t h, const Product& p, const void* alpha, const void* beta) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto least = [](int64_t rows) { return std::max<int64_t>(1, rows); };
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.lda < least(p.op_a == CUBLAS_OP_N ? p.m : p.k) ||
      p.ldb < least(p.op_b == CUBLAS_OP_N ? p.k : p.n) || p.ldc < least(p.m))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
  if (!fit(p.m, p.n, p.k, p.lda, p.ldb, p.ldc) || !knows(p)) return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

void multiply(const Product& p, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
  switch (const cudaDataType own = kept_in(p)) {
    case CUDA_R_32F:
      return multiply_as<float>(own, p, alpha, a, b, beta, c);
    case CUDA_R_64F:
      return multiply_as<double>(own, p, alpha, a, b, beta, c);
    case CUDA_C_32F:
      return multiply_as<Single>(own, p, alpha, a, b, beta, c);
    default:
      return multiply_as<Double>(own, p, alpha, a, b, beta, c);
  }
}

}  // namespace us::cublas
