// SPDX-License-Identifier: Apache-2.0
#include "host_cuda.cuh"

__global__ void stencil3d(const float* in, float* out, float c0, float c1) {
  __shared__ float tile[kTileY + 2][kTileX + 2];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * kTileX + tx, y = blockIdx.y * kTileY + ty, z0 = blockIdx.z * kDepth;
  const int here = y * kX + x;
  const int left = y * kX + max(x - 1, 0), right = y * kX + min(x + 1, kX - 1);
  const int above = max(y - 1, 0) * kX + x, below = min(y + 1, kY - 1) * kX + x;
  float behind = in[max(z0 - 1, 0) * kPlane + here], centre = in[z0 * kPlane + here];
  for (int z = z0; z < z0 + kDepth; ++z) {
    const float* plane = in + z * kPlane;
    const float front = in[min(z + 1, kZ - 1) * kPlane + here];
    tile[ty + 1][tx + 1] = centre;
    if (ty == 0) tile[0][tx + 1] = plane[above];
    if (ty == kTileY - 1) tile[kTileY + 1][tx + 1] = plane[below];
    if (tx == 0) tile[ty + 1][0] = plane[left];
    if (tx == kTileX - 1) tile[ty + 1][kTileX + 1] = plane[right];
    __syncthreads();
    out[z * kPlane + here] = c0 * centre + c1 * (tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty][tx + 1] +
                                                 tile[ty + 2][tx + 1] + behind + front);
    __syncthreads();
    behind = centre;
    centre = front;
  }
}

void launch_kernel(dim3 grid, dim3 block, const Arguments& a) {
  stencil3d<<<grid, block>>>(a.buffer<float>(0), a.buffer<float>(1), a.scalar<float>(0), a.scalar<float>(1));
}
