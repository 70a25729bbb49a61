// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 18
// A block of 48 threads in tiles of 16.

#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;
constexpr int kTile = 16;

__global__ void kernel(int* out) {
  auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
  int value = threadIdx.x;
  value += tile.shfl_down(value, kTile / 2);
  atomicAdd(out, value);
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 48>>>(out);
  int want = 0;  // a lane without a partner in its tile gets its own value
  for (int t = 0; t < 48; ++t) want += t + (t % 16 < 8 ? t + 8 : t);
  return judge(out, 1, [=](int) { return want; });
}
