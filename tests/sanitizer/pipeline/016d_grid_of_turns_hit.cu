// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119
// A grid relaxes a line in place; a sync lies between the turns, none between reading and writing.
#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(int* a, int* b, int n, int turns) {
  const auto grid = cg::this_grid();
  const int i = grid.thread_rank();
  int *from = a, *to = a;
  for (int k = 0; k < turns; ++k) {
    const int left = i > 0 ? from[i - 1] : 0;  // expect: race-global A
    to[i] = left + 1;  // expect: race-global B
    grid.sync();
    int* const swap = from;
    from = to, to = swap;
  }
}

int main() {
  int *a = zeros(256), *b = zeros(256), n = 256, turns = 4;
  void* arguments[] = {&a, &b, &n, &turns};
  must(cudaLaunchCooperativeKernel((void*)kernel, 4, 64, arguments), "launch");
  return ended();
}
