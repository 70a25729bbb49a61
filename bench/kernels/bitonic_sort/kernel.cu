// SPDX-License-Identifier: Apache-2.0
#include "host_cuda.cuh"

__global__ void bitonic_sort(const int* in, int* out) {
  __shared__ int keys[kSegment];
  const int t = threadIdx.x;
  const size_t base = size_t(blockIdx.x) * kSegment;
  keys[t] = in[base + t];
  keys[t + kThreads] = in[base + t + kThreads];
#pragma unroll
  for (int size = 2; size <= kSegment; size *= 2) {
#pragma unroll
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int low = 2 * t - (t & (stride - 1)), high = low + stride;
      const bool ascending = (low & size) == 0;
      const int a = keys[low], b = keys[high];
      keys[low] = ascending ? min(a, b) : max(a, b);
      keys[high] = ascending ? max(a, b) : min(a, b);
    }
  }
  __syncthreads();
  out[base + t] = keys[t];
  out[base + t + kThreads] = keys[t + kThreads];
}

void launch_kernel(dim3 grid, dim3 block, const Arguments& a) {
  bitonic_sort<<<grid, block>>>(a.buffer<int>(0), a.buffer<int>(1));
}
