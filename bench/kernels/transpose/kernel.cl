// SPDX-License-Identifier: Apache-2.0
#include "size.h"

__kernel __attribute__((reqd_work_group_size(kTile, kRows, 1))) void transpose(__global const float* restrict in,
                                                                               __global float* restrict out, int n) {
  __local float tile[kTile][kTile + 1];
  const int tx = get_local_id(0), ty = get_local_id(1);
  int x = get_group_id(0) * kTile + tx, y = get_group_id(1) * kTile + ty;
#pragma unroll
  for (int r = 0; r < kTile; r += kRows) tile[ty + r][tx] = in[(y + r) * n + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * kTile + tx, y = get_group_id(0) * kTile + ty;
#pragma unroll
  for (int r = 0; r < kTile; r += kRows) out[(y + r) * n + x] = tile[tx][ty + r];
}
