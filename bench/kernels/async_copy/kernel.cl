// SPDX-License-Identifier: Apache-2.0
#include "size.h"

__kernel __attribute__((reqd_work_group_size(kBlock, 1, 1))) void async_copy(
    __global const float4* restrict in, __global float4* restrict out, float scale, float bias) {
  __local float4 tile[kBlock];
  const int t = get_local_id(0);
  in += (size_t)get_group_id(0) * kTiles * kBlock + t;
  out += (size_t)get_group_id(0) * kTiles * kBlock + t;
  for (int k = 0; k < kTiles; ++k) {
    tile[t] = in[k * kBlock];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[k * kBlock] = scale * tile[kBlock - 1 - t].wzyx + bias;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
