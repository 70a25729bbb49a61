// SPDX-License-Identifier: Apache-2.0
#include "size.h"

__kernel __attribute__((reqd_work_group_size(kTile, kTile, 1))) void matmul(
    __global const float* restrict a, __global const float* restrict b, __global float* restrict c, int n) {
  __local float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int tx = get_local_id(0), ty = get_local_id(1);
  const int row = get_group_id(1) * kTile + ty, column = get_group_id(0) * kTile + tx;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += kTile) {
    tile_a[ty][tx] = a[row * n + k0 + tx];
    tile_b[ty][tx] = b[(k0 + ty) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
