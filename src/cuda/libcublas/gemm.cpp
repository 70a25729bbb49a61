// SPDX-License-Identifier: Apache-2.0
// cublas?gemm, by strides, by arrays of pointers, and with types as arguments.
#include "cuda/api.h"
#include "cuda/libcublas/products.h"

using us::cublas::AnyScalar;
using us::cublas::Product;
using us::cublas::submit;
using us::cublas::Touched;
using i64 = int64_t;

namespace {

const void* advance(const void* p, i64 bytes) { return static_cast<const char*>(p) + bytes; }

cublasStatus_t strided(cublasHandle_t h, const Product& p, const void* alpha, const void* a, i64 step_a, const void* b,
                       i64 step_b, const void* beta, void* c, i64 step_c, i64 count) {
  const cublasStatus_t r = check(h, p, alpha, beta);
  if (r != CUBLAS_STATUS_SUCCESS) return r;
  if (count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (!p.m || !p.n || !count) return r;
  if (!c || (p.k && (!a || !b))) return CUBLAS_STATUS_INVALID_VALUE;
  const auto in = static_cast<i64>(us::cublas::bytes_of(p.a)), out = static_cast<i64>(us::cublas::bytes_of(p.c));
  const bool plain_a = p.op_a == CUBLAS_OP_N, plain_b = p.op_b == CUBLAS_OP_N;
  Touched t;
  for (i64 i = 0; i < count; ++i) {
    const auto element = static_cast<size_t>(in);
    t.matrix(advance(a, i * step_a * in), plain_a ? p.m : p.k, plain_a ? p.k : p.m, p.lda, element, false);
    t.matrix(advance(b, i * step_b * in), plain_b ? p.k : p.n, plain_b ? p.n : p.k, p.ldb, element, false);
    t.matrix(advance(c, i * step_c * out), p.m, p.n, p.ldc, static_cast<size_t>(out), true);
  }
  return submit(h, t, [=, x = AnyScalar(h, alpha, p.scale), y = AnyScalar(h, beta, p.scale)] {
    for (i64 i = 0; i < count; ++i)
      multiply(p, x.get(), advance(a, i * step_a * in), advance(b, i * step_b * in), y.get(),
               const_cast<void*>(advance(c, i * step_c * out)));
  });
}

cublasStatus_t one(cublasHandle_t h, const Product& p, const void* alpha, const void* a, const void* b,
                   const void* beta, void* c) {
  return strided(h, p, alpha, a, 0, b, 0, beta, c, 0, 1);
}

// The arrays of pointers lie on the device.
cublasStatus_t batched(cublasHandle_t h, const Product& p, const void* alpha, const void* const* a,
                       const void* const* b, const void* beta, void* const* c, i64 count) {
  const cublasStatus_t r = check(h, p, alpha, beta);
  if (r != CUBLAS_STATUS_SUCCESS) return r;
  if (count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (!p.m || !p.n || !count) return r;
  if (!c || (p.k && (!a || !b))) return CUBLAS_STATUS_INVALID_VALUE;
  Touched t;
  t.vector(a, count, 1, sizeof(void*), false), t.vector(b, count, 1, sizeof(void*), false);
  t.vector(c, count, 1, sizeof(void*), false);
  return submit(h, t, [=, x = AnyScalar(h, alpha, p.scale), y = AnyScalar(h, beta, p.scale)] {
    for (i64 i = 0; i < count; ++i) multiply(p, x.get(), a[i], b[i], y.get(), c[i]);
  });
}

// The type of alpha and beta; `none`: no such product.
constexpr auto kNone = static_cast<cudaDataType>(-1);
cudaDataType scale_of(cublasComputeType_t compute, cudaDataType c) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUDA_R_16F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return c == CUDA_C_32F ? CUDA_C_32F : CUDA_R_32F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return c == CUDA_C_64F ? CUDA_C_64F : CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUDA_R_32I;
    default:
      return kNone;
  }
}

}  // namespace

#define US_HEAD cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb
#define US_PRODUCT(ca, cb, cc, scale) \
  Product { ta, tb, m, n, k, ca, cb, cc, lda, ldb, ldc, scale }

#define US_GEMM(L, T, type, I, V1, V2)                                                                                \
  US_API cublasStatus_t cublas##L##gemm##V1(US_HEAD, I m, I n, I k, const T* alpha, const T* a, I lda, const T* b,    \
                                            I ldb, const T* beta, T* c, I ldc) {                                      \
    return one(h, US_PRODUCT(type, type, type, type), alpha, a, b, beta, c);                                          \
  }                                                                                                                   \
  US_API cublasStatus_t cublas##L##gemmStridedBatched##V2(US_HEAD, I m, I n, I k, const T* alpha, const T* a, I lda,  \
                                                          long long sa, const T* b, I ldb, long long sb,              \
                                                          const T* beta, T* c, I ldc, long long sc, I count) {        \
    return strided(h, US_PRODUCT(type, type, type, type), alpha, a, sa, b, sb, beta, c, sc, count);                   \
  }                                                                                                                   \
  US_API cublasStatus_t cublas##L##gemmBatched##V2(US_HEAD, I m, I n, I k, const T* alpha, const T* const a[], I lda, \
                                                   const T* const b[], I ldb, const T* beta, T* const c[], I ldc,     \
                                                   I count) {                                                         \
    return batched(h, US_PRODUCT(type, type, type, type), alpha, reinterpret_cast<const void* const*>(a),             \
                   reinterpret_cast<const void* const*>(b), beta, reinterpret_cast<void* const*>(c), count);          \
  }
#define US_WITH_TYPES(I, V)                                                                                           \
  US_API cublasStatus_t cublasGemmEx##V(US_HEAD, I m, I n, I k, const void* alpha, const void* a, cudaDataType ca,    \
                                        I lda, const void* b, cudaDataType cb, I ldb, const void* beta, void* c,      \
                                        cudaDataType cc, I ldc, cublasComputeType_t compute, cublasGemmAlgo_t) {      \
    return one(h, US_PRODUCT(ca, cb, cc, scale_of(compute, cc)), alpha, a, b, beta, c);                               \
  }                                                                                                                   \
  US_API cublasStatus_t cublasGemmStridedBatchedEx##V(                                                                \
      US_HEAD, I m, I n, I k, const void* alpha, const void* a, cudaDataType ca, I lda, long long sa, const void* b,  \
      cudaDataType cb, I ldb, long long sb, const void* beta, void* c, cudaDataType cc, I ldc, long long sc, I count, \
      cublasComputeType_t compute, cublasGemmAlgo_t) {                                                                \
    return strided(h, US_PRODUCT(ca, cb, cc, scale_of(compute, cc)), alpha, a, sa, b, sb, beta, c, sc, count);        \
  }                                                                                                                   \
  US_API cublasStatus_t cublasGemmBatchedEx##V(US_HEAD, I m, I n, I k, const void* alpha, const void* const a[],      \
                                               cudaDataType ca, I lda, const void* const b[], cudaDataType cb, I ldb, \
                                               const void* beta, void* const c[], cudaDataType cc, I ldc, I count,    \
                                               cublasComputeType_t compute, cublasGemmAlgo_t) {                       \
    return batched(h, US_PRODUCT(ca, cb, cc, scale_of(compute, cc)), alpha, a, b, beta, c, count);                    \
  }                                                                                                                   \
  US_API cublasStatus_t cublasSgemmEx##V(US_HEAD, I m, I n, I k, const float* alpha, const void* a, cudaDataType ca,  \
                                         I lda, const void* b, cudaDataType cb, I ldb, const float* beta, void* c,    \
                                         cudaDataType cc, I ldc) {                                                    \
    return one(h, US_PRODUCT(ca, cb, cc, CUDA_R_32F), alpha, a, b, beta, c);                                          \
  }
US_GEMM(S, float, CUDA_R_32F, int, _v2, )
US_GEMM(D, double, CUDA_R_64F, int, _v2, )
US_GEMM(C, cuComplex, CUDA_C_32F, int, _v2, )
US_GEMM(Z, cuDoubleComplex, CUDA_C_64F, int, _v2, )
US_GEMM(H, __half, CUDA_R_16F, int, , )
US_GEMM(S, float, CUDA_R_32F, i64, _v2_64, _64)
US_GEMM(D, double, CUDA_R_64F, i64, _v2_64, _64)
US_GEMM(C, cuComplex, CUDA_C_32F, i64, _v2_64, _64)
US_GEMM(Z, cuDoubleComplex, CUDA_C_64F, i64, _v2_64, _64)
US_GEMM(H, __half, CUDA_R_16F, i64, _64, _64)
US_WITH_TYPES(int, )
US_WITH_TYPES(i64, _64)
