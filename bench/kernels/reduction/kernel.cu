// SPDX-License-Identifier: Apache-2.0
#include "host_cuda.cuh"

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void reduction(const float* in, float* out) {
  __shared__ float partial[kBlock / 32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const float* from = in + size_t(blockIdx.x) * kPerBlock + t;
  float sum = 0;
  for (int k = 0; k < kPerThread; ++k) sum += from[k * kBlock];
  sum = warp_sum(sum);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = warp_sum(lane < kBlock / 32 ? partial[lane] : 0.0f);
    if (lane == 0) atomicAdd(out, sum);
  }
}

void launch_kernel(dim3 grid, dim3 block, const Arguments& a) {
  reduction<<<grid, block>>>(a.buffer<float>(0), a.buffer<float>(1));
}
