// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 16
// A cooperative launch of more blocks than can be resident at once is refused.

#include <cooperative_groups.h>

#include "../twin.h"

__global__ void kernel(int* out) {
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) atomicAdd(out, 1);
}

int main() {
  int blocks = 0, sms = 0, *out = zeros(1);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1024, 0);
  const int grid = blocks * sms + 1;
  void* arguments[] = {&out};
  cudaLaunchCooperativeKernel((void*)kernel, dim3(grid), dim3(1024), arguments, 0, 0);  // expect: api-error
  return ended();
}
