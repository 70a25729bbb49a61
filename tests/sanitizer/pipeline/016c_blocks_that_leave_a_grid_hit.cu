// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 16, 15
// hangs
// Blocks without work leave before the grid meets.
#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(int* data, int n) {
  const auto grid = cg::this_grid();
  const int i = grid.thread_rank();
  if (i >= n) return;
  data[i] = i;
  grid.sync();  // expect: deadlock
  if (i < n) data[n + i] = data[n - 1 - i];
}

int main() {
  int *data = zeros(256), n = 128;
  void* arguments[] = {&data, &n};
  must(cudaLaunchCooperativeKernel((void*)kernel, 4, 64, arguments), "launch");
  return ended();
}
