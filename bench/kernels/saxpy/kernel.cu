// SPDX-License-Identifier: Apache-2.0
#include "host_cuda.cuh"

__global__ void saxpy(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

void launch_kernel(dim3 grid, dim3 block, const Arguments& a) {
  saxpy<<<grid, block>>>(a.buffer<float>(0), a.buffer<float>(1), a.scalar<float>(0), a.scalar<int>(1));
}
