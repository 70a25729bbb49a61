// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119
// Phases of a cooperative grid: a sync is missing between two that are there. What is done before the last one must not
// pass for ordered by the first, because a block that waited heard late that it was over.
#include <cooperative_groups.h>

#include "../twin.h"

__global__ void kernel(int* sums, int* total, int* out) {
  auto grid = cooperative_groups::this_grid();
  out[grid.thread_rank()] = 1;
  grid.sync();
  if (threadIdx.x == 0) sums[blockIdx.x] = out[blockIdx.x ^ 1] + int(blockIdx.x);  // expect: race-global A
  if (grid.thread_rank() == 0) {
    int most = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) most = max(most, sums[b]);  // expect: race-global B
    *total = most;
  }
  grid.sync();
  out[grid.thread_rank()] += *total;
}

int main() {
  int *sums = zeros(8), *total = zeros(1), *out = zeros(512);
  void* arguments[] = {&sums, &total, &out};
  must(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), 8, 64, arguments, 0, nullptr), "launch");
  return ended();
}
