// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 89, 105
// Lanes with one label count by their leader's atomic.
#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(const int* keys, int* bins) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int key = keys[threadIdx.x];
  const auto same = cg::labeled_partition(warp, key);
  if (same.thread_rank() == 0) {
    atomicAdd(&bins[key], int(same.size()));
  }
}

int main() {
  int *keys = device<int>(128, [](int i) { return i * 5 % 8; }), *bins = zeros(8);
  kernel<<<1, 128>>>(keys, bins);
  return judge(bins, 8, [](int) { return 16; });
}
