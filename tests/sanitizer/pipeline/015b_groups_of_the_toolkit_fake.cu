// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 15
// Scans, reductions and tiles of two warps of cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(int* out) {
  __shared__ cg::block_tile_memory<128> memory;
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  const auto warp = cg::tiled_partition<32>(tile);
  int v = cg::reduce(tile, 1, cg::plus<int>());
  v += cg::inclusive_scan(warp, 1);
  for (int k = 0; k < 3; ++k) v = tile.shfl(v, 63);
  tile.sync();
  out[threadIdx.x] = v + cg::exclusive_scan(tile, 1) - tile.thread_rank();
}

int main() {
  int* out = zeros(128);
  kernel<<<1, 128>>>(out);
  return judge(out, 128, [](int) { return 96; });
}
