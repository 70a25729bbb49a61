// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 84
// A tile of 16 is reduced by a half of it.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(int* out) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int sum = 0;
  if (tile.thread_rank() < 8) sum = cg::reduce(tile, 1, cg::plus<int>());  // expect: warp-mask
  out[threadIdx.x] = sum;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
