// SPDX-License-Identifier: Apache-2.0
#include "host_cuda.cuh"

__global__ void histogram(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned bins[kBins];
  const int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
    const unsigned word = in[i];
    atomicAdd(&bins[word & 255], 1u);
    atomicAdd(&bins[word >> 8 & 255], 1u);
    atomicAdd(&bins[word >> 16 & 255], 1u);
    atomicAdd(&bins[word >> 24], 1u);
  }
  __syncthreads();
  atomicAdd(&out[t], bins[t]);
}

void launch_kernel(dim3 grid, dim3 block, const Arguments& a) {
  histogram<<<grid, block>>>(a.buffer<unsigned>(0), a.buffer<unsigned>(1), a.scalar<int>(0));
}
