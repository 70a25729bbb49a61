// SPDX-License-Identifier: Apache-2.0
// Numbers of any type, where they lie in a matrix, and factors.
#pragma once
#include <algorithm>
#include <complex>

#include "cuda/host_work/host_work.h"
#include "cuda/libcublas/products.h"
#include "cuda/libcublaslt/descriptors.h"

namespace us::cublaslt {

using i64 = int64_t;
using Complex = std::complex<double>;

template <class T>
cudaDataType type(T t) {
  return static_cast<cudaDataType>(t);
}
inline bool eight(cudaDataType t) { return t == CUDA_R_8F_E4M3 || t == CUDA_R_8F_E5M2; }

template <class X>
X get(const void* p, cudaDataType t, i64 i) {
  if constexpr (std::is_same_v<X, Complex>) {
    if (t == CUDA_C_32F) return Complex(static_cast<const std::complex<float>*>(p)[i]);
    if (t == CUDA_C_64F) return static_cast<const Complex*>(p)[i];
  }
  return cublas::number(p, t, i);
}
inline void put(void* p, cudaDataType t, i64 i, double x) { cublas::put(p, t, i, x); }
inline void put(void* p, cudaDataType t, i64 i, Complex x) {
  if (t == CUDA_C_32F)
    static_cast<std::complex<float>*>(p)[i] = std::complex<float>(x);
  else if (t == CUDA_C_64F)
    static_cast<Complex*>(p)[i] = x;
  else
    cublas::put(p, t, i, x.real());
}
inline void* advance(void* p, cudaDataType t, i64 numbers) {
  return static_cast<char*>(p) + numbers * static_cast<i64>(cublas::bytes_of(t));
}

inline bool known(int32_t order) { return order == CUBLASLT_ORDER_COL || order == CUBLASLT_ORDER_ROW; }
inline i64 place(const Layout& l, i64 row, i64 column) {
  return l.order == CUBLASLT_ORDER_COL ? column * l.ld + row : row * l.ld + column;
}
inline bool holds(const Layout& l) {
  return l.ld >= std::max<i64>(1, static_cast<i64>(l.order == CUBLASLT_ORDER_COL ? l.rows : l.columns));
}
inline void touch_matrix(host_work::Touched& t, const void* at, const Layout& l, i64 batch, bool writes) {
  const auto rows = static_cast<i64>(l.rows), columns = static_cast<i64>(l.columns);
  const bool by_columns = l.order == CUBLASLT_ORDER_COL;
  t.matrix(advance(const_cast<void*>(at), type(l.type), batch * l.stride), by_columns ? rows : columns,
           by_columns ? columns : rows, l.ld, cublas::bytes_of(type(l.type)), writes);
}

// alpha or beta: a number of now, one on the device, or one for each row.
class Factor {
 public:
  Factor() = default;  // zero
  Factor(const void* p, cudaDataType t, int32_t pointers)
      : at_(pointers == CUBLASLT_POINTER_MODE_HOST ? nullptr : p),
        each_row_(pointers == CUBLASLT_POINTER_MODE_DEVICE_VECTOR),
        type_(t) {
    if (!at_) std::memcpy(bytes_, p, cublas::bytes_of(t));
  }
  template <class X>
  X get(i64 row, i64 offset) const {
    return cublaslt::get<X>(at_ ? at_ : bytes_, type_, each_row_ ? offset + row : 0);
  }
  bool zero() const { return !at_ && get<Complex>(0, 0) == Complex{}; }
  bool complex() const { return type_ == CUDA_C_32F || type_ == CUDA_C_64F; }

 private:
  const void* at_ = nullptr;
  bool each_row_ = false;
  cudaDataType type_ = CUDA_R_64F;
  alignas(16) unsigned char bytes_[16] = {};
};

}  // namespace us::cublaslt
