// SPDX-License-Identifier: Apache-2.0
// What a program describes a product by. Each description lies in the bytes of cuBLASLt's opaque one, which a program
// may keep wherever it likes; attributes are set and read by tables of their places.
#pragma once
#include <cublasLt.h>

#include "cuda/api.h"

namespace us::cublaslt {

struct Layout {
  uint32_t type;  // cudaDataType
  int32_t order = CUBLASLT_ORDER_COL;
  uint64_t rows, columns;
  int64_t ld;
  int32_t count = 1, batch_mode = CUBLASLT_BATCH_MODE_STRIDED;
  int64_t stride = 0, plane = 0;
};

struct Operation {
  int32_t compute, scale_type;
  int32_t pointers = CUBLASLT_POINTER_MODE_HOST;
  int32_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N, op_c = CUBLAS_OP_N;
  int32_t fill = CUBLAS_FILL_MODE_FULL;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  int64_t bias_stride = 0;
  void* aux = nullptr;
  int64_t aux_ld = 0, aux_stride = 0, alpha_stride = 0;
  int32_t multiprocessors = 0, bias_type = -1, aux_type = -1;
  int8_t fast = 0;
  const void *scale_a = nullptr, *scale_b = nullptr, *scale_c = nullptr, *scale_d = nullptr;
  void* largest_d = nullptr;
  const void* scale_aux = nullptr;
  void* largest_aux = nullptr;
  int32_t scale_modes[6] = {};
  void *scale_d_out = nullptr, *emulation = nullptr;
};

struct Transform {
  int32_t scale_type;
  int32_t pointers = CUBLASLT_POINTER_MODE_HOST, op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
};

struct Preference {
  uint32_t search = CUBLASLT_SEARCH_BEST_FIT, reduction = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint64_t workspace = 0, implementations = ~0ull;
  uint32_t alignments[4] = {256, 256, 256, 256};
  float waves = 0;
};

struct Algorithm {
  int32_t id;
  uint32_t settings[8];
};

template <class Opaque>
struct Inside;
template <>
struct Inside<cublasLtMatrixLayoutOpaque_t> {
  using type = Layout;
};
template <>
struct Inside<cublasLtMatmulDescOpaque_t> {
  using type = Operation;
};
template <>
struct Inside<cublasLtMatrixTransformDescOpaque_t> {
  using type = Transform;
};
template <>
struct Inside<cublasLtMatmulPreferenceOpaque_t> {
  using type = Preference;
};
template <>
struct Inside<cublasLtMatmulAlgo_t> {
  using type = Algorithm;
};
template <class Opaque>
auto* inside(Opaque* p) {
  using T = typename Inside<std::remove_const_t<Opaque>>::type;
  static_assert(sizeof(T) <= sizeof(Opaque) && std::is_trivially_copyable_v<T>);
  return reinterpret_cast<std::conditional_t<std::is_const_v<Opaque>, const T, T>*>(p);
}

}  // namespace us::cublaslt
