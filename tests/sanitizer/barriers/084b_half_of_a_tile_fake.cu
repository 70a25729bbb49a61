// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 84
// One of two tiles of a warp is reduced by itself.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(int* out) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int sum = 0;
  if (tile.meta_group_rank() == 1) sum = cg::reduce(tile, 1, cg::plus<int>());
  out[threadIdx.x] = sum;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return judge(out, 64, [](int i) { return i / 16 == 1 ? 16 : 0; });
}
