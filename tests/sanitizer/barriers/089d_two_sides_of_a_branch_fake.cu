// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// The odd lanes of a warp read what the even ones write behind a sync of the warp.
#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(int* out) {
  __shared__ int s[32];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const bool odd = threadIdx.x % 2;
  const auto side = cg::binary_partition(warp, odd);
  if (!odd) s[threadIdx.x] = side.thread_rank();
  warp.sync();
  if (odd) out[threadIdx.x / 2] = s[threadIdx.x - 1];
}

int main() {
  int* out = zeros(16);
  kernel<<<1, 32>>>(out);
  return judge(out, 16, [](int i) { return i; });
}
