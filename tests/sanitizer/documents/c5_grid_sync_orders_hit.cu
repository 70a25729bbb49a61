// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119
// covers: C5
// Blocks read what other blocks write; a barrier of each block alone stands between.

#include <cooperative_groups.h>

#include "../twin.h"

__global__ void kernel(int* data, int* out) {
  auto grid = cooperative_groups::this_grid();
  data[grid.thread_rank()] = grid.thread_rank();  // expect: race-global A
  __syncthreads();
  out[grid.thread_rank()] = data[grid.size() - 1 - grid.thread_rank()];  // expect: race-global B
}

int main() {
  int *data = zeros(128), *out = zeros(128);
  void* arguments[] = {&data, &out};
  must(cudaLaunchCooperativeKernel((void*)kernel, dim3(4), dim3(32), arguments, 0, 0), "launch");
  return ended();
}
