// SPDX-License-Identifier: Apache-2.0
#include "size.h"

__kernel __attribute__((reqd_work_group_size(kTileX, kTileY, 1))) void stencil3d(
    __global const float* restrict in, __global float* restrict out, float c0, float c1) {
  __local float tile[kTileY + 2][kTileX + 2];
  const int tx = get_local_id(0), ty = get_local_id(1);
  const int x = get_group_id(0) * kTileX + tx, y = get_group_id(1) * kTileY + ty, z0 = get_group_id(2) * kDepth;
  const int here = y * kX + x;
  const int left = y * kX + max(x - 1, 0), right = y * kX + min(x + 1, kX - 1);
  const int above = max(y - 1, 0) * kX + x, below = min(y + 1, kY - 1) * kX + x;
  float behind = in[max(z0 - 1, 0) * kPlane + here], centre = in[z0 * kPlane + here];
  for (int z = z0; z < z0 + kDepth; ++z) {
    __global const float* plane = in + z * kPlane;
    const float front = in[min(z + 1, kZ - 1) * kPlane + here];
    tile[ty + 1][tx + 1] = centre;
    if (ty == 0) tile[0][tx + 1] = plane[above];
    if (ty == kTileY - 1) tile[kTileY + 1][tx + 1] = plane[below];
    if (tx == 0) tile[ty + 1][0] = plane[left];
    if (tx == kTileX - 1) tile[ty + 1][kTileX + 1] = plane[right];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[z * kPlane + here] = c0 * centre + c1 * (tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty][tx + 1] +
                                                 tile[ty + 2][tx + 1] + behind + front);
    barrier(CLK_LOCAL_MEM_FENCE);
    behind = centre;
    centre = front;
  }
}
