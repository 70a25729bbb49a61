// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 16
// grid.sync() in an ordinary launch: the grid has nothing to synchronise with, the kernel traps.

#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(int* out) {
  auto grid = cg::this_grid();
  grid.sync();  // expect: grid-sync
  out[grid.thread_rank()] = 1;
}

int main() {
  int* out = zeros(64);
  kernel<<<2, 32>>>(out);
  return ended();
}
