// SPDX-License-Identifier: Apache-2.0
#include "host_cuda.cuh"

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[kTile][kTile + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * kTile + tx, y = blockIdx.y * kTile + ty;
  for (int r = 0; r < kTile; r += kRows) tile[ty + r][tx] = in[(y + r) * n + x];
  __syncthreads();
  x = blockIdx.y * kTile + tx, y = blockIdx.x * kTile + ty;
  for (int r = 0; r < kTile; r += kRows) out[(y + r) * n + x] = tile[tx][ty + r];
}

void launch_kernel(dim3 grid, dim3 block, const Arguments& a) {
  transpose<<<grid, block>>>(a.buffer<float>(0), a.buffer<float>(1), a.scalar<int>(0));
}
