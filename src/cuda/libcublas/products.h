// SPDX-License-Identifier: Apache-2.0
// Products of matrices of any of the types that cuBLAS multiplies.
#pragma once
#include <cstring>

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
// A real number, by its place in an array of that type.
double number(const void*, cudaDataType, int64_t place);
void put(void*, cudaDataType, int64_t place, double);

// alpha or beta of any type: its bytes now, or its address on the device.
class AnyScalar {
 public:
  AnyScalar(cublasHandle_t h, const void* p, cudaDataType type)
      : at_(h->pointers == CUBLAS_POINTER_MODE_DEVICE ? p : nullptr) {
    if (!at_) std::memcpy(bytes_, p, bytes_of(type));
  }
  const void* get() const { return at_ ? at_ : bytes_; }

 private:
  const void* at_;
  alignas(16) unsigned char bytes_[16] = {};
};

}  // namespace us::cublas
