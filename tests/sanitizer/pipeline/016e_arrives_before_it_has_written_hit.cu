// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 16
// A thread writes what others read behind its arrival at the barrier of the grid.
#include <cooperative_groups.h>

#include "../twin.h"

namespace cg = cooperative_groups;

__global__ void kernel(int* data, int* out) {
  const cg::grid_group grid = cg::this_grid();
  const int i = grid.thread_rank(), n = grid.size();
  auto token = grid.barrier_arrive();
  data[i] = 3 * i;  // expect: race-global B
  out[n + i] = i;
  grid.barrier_wait(std::move(token));
  out[i] = data[n - 1 - i];  // expect: race-global A
}

int main() {
  int *data = zeros(128), *out = zeros(256);
  void* args[] = {&data, &out};
  must(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), 2, 64, args), "launch");
  return ended();
}
