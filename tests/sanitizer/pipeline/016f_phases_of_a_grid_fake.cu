// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 119
// Phases of a cooperative grid with a sync between any two.
#include <cooperative_groups.h>

#include "../twin.h"

__global__ void kernel(int* sums, int* total, int* out) {
  auto grid = cooperative_groups::this_grid();
  out[grid.thread_rank()] = 1;
  grid.sync();
  if (threadIdx.x == 0) sums[blockIdx.x] = out[blockIdx.x ^ 1] + int(blockIdx.x);
  grid.sync();
  if (grid.thread_rank() == 0) {
    int most = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) most = max(most, sums[b]);
    *total = most;
  }
  grid.sync();
  out[grid.thread_rank()] += *total;
}

int main() {
  int *sums = zeros(8), *total = zeros(1), *out = zeros(512);
  void* arguments[] = {&sums, &total, &out};
  must(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), 8, 64, arguments, 0, nullptr), "launch");
  return judge(out, 512, [](int) { return 9; });
}
