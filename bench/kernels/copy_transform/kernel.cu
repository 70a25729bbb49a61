// SPDX-License-Identifier: Apache-2.0
#include "host_cuda.cuh"

__global__ void copy_transform(const float* in, float* out, float scale, float bias) {
  __shared__ float tile[kBlock];
  const int t = threadIdx.x, i = blockIdx.x * kBlock + t;
  tile[t] = in[i];
  __syncthreads();
  out[i] = scale * tile[kBlock - 1 - t] + bias;
}

void launch_kernel(dim3 grid, dim3 block, const Arguments& a) {
  copy_transform<<<grid, block>>>(a.buffer<float>(0), a.buffer<float>(1), a.scalar<float>(0), a.scalar<float>(1));
}
