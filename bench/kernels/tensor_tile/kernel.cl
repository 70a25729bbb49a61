// SPDX-License-Identifier: Apache-2.0
#include "size.h"

__kernel __attribute__((reqd_work_group_size(kBlock, 1, 1))) void tensor_tile(
    __global const float4* restrict in, __global float4* restrict out, float scale, float bias) {
  __local float4 tile[kTileRows * kTileColumns / 4];
  const int t = get_local_id(0), width = kTileColumns / 4;
  for (int k = 0; k < kTiles; ++k) {
    const size_t start =
        (size_t)get_group_id(1) * kTileRows * (kColumns / 4) + (get_group_id(0) * kTiles + k) * width;
    for (int i = t; i < kTileRows * width; i += kBlock) tile[i] = in[start + i / width * (kColumns / 4) + i % width];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = t; i < kTileRows * width; i += kBlock)
      out[start + i / width * (kColumns / 4) + i % width] = scale * tile[i] + bias;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
