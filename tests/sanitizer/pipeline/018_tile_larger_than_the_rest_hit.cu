// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 18
// A block of 48 threads in tiles of 32: in the second tile the sum takes values from lanes that do not exist.

#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;
constexpr int kTile = 32;

__global__ void kernel(int* out) {
  auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
  int value = threadIdx.x;
  value += tile.shfl_down(value, kTile / 2);  // expect: warp-source A
  atomicAdd(out, value);                      // expect: warp-source B
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 48>>>(out);
  return ended();
}
