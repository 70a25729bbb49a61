// SPDX-License-Identifier: Apache-2.0
#include "host_cuda.cuh"

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, column = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += kTile) {
    tile_a[ty][tx] = a[row * n + k0 + tx];
    tile_b[ty][tx] = b[(k0 + ty) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

void launch_kernel(dim3 grid, dim3 block, const Arguments& a) {
  matmul<<<grid, block>>>(a.buffer<float>(0), a.buffer<float>(1), a.buffer<float>(2), a.scalar<int>(0));
}
