// SPDX-License-Identifier: Apache-2.0
// Products of matrices of any of the types that cuBLAS multiplies.
#pragma once
#include "cuda/libcublas/handle.h"

namespace us::cublas {

struct Product {
  cublasOperation_t op_a, op_b;
  int64_t m, n, k;
  cudaDataType a, b, c;  // types of numbers
  int64_t lda, ldb, ldc;
  cudaDataType scale;  // of alpha and beta
};

// Which types go together; what is missing is none.
bool knows(const Product&);
cublasStatus_t check(cublasHandle_t, const Product&, const void* alpha, const void* beta);
void multiply(const Product&, const void* alpha, const void* a, const void* b, const void* beta, void* c);
size_t bytes_of(cudaDataType);

}  // namespace us::cublas
