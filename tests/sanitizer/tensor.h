// SPDX-License-Identifier: Apache-2.0
// Tensor maps for the twins, encoded without linking libcuda.
#pragma once
#include "twin.h"

using Encode = decltype(&cuTensorMapEncodeTiled);

inline Encode encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  must(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
       "cudaGetDriverEntryPointByVersion");
  return reinterpret_cast<Encode>(function);
}

struct Shape {
  uint64_t columns, rows;  // of the tensor of 32-bit integers
  uint32_t box_columns, box_rows;
  uint64_t row_bytes = 0;  // 0: columns * 4
};

inline CUresult encode(CUtensorMap* map, void* data, Shape s) {
  const cuuint64_t dims[2] = {s.columns, s.rows}, strides[1] = {s.row_bytes ? s.row_bytes : s.columns * 4};
  const cuuint32_t box[2] = {s.box_columns, s.box_rows}, steps[2] = {1, 1};
  return encoder()(map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, dims, strides, box, steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

inline CUtensorMap tensor_map(void* data, Shape s) {
  CUtensorMap map;
  if (encode(&map, data, s) != CUDA_SUCCESS) std::puts("cuTensorMapEncodeTiled failed"), std::exit(2);
  return map;
}

#define TENSOR_LOAD(dst, map, x, y, bar)                                                                               \
  asm volatile(                                                                                                        \
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"( \
          SMEM(dst)),                                                                                                  \
      "l"(map), "r"(x), "r"(y), "r"(SMEM(bar))                                                                         \
      : "memory")
