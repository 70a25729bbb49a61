// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 15
// Warp 0 calls the same collective on a group that consists of warp 0.

#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(int* out) {
  __shared__ int flag;
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  if (threadIdx.x == 0) flag = 0;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    warp.sync();
    if (warp.thread_rank() == 0) STORE("release.cta.shared::cta", static_cast<uint64_t>(SMEM(&flag)), 7);
  } else {
    int seen = 0;
    while (seen != 7) LOAD(seen, "acquire.cta.shared::cta", static_cast<uint64_t>(SMEM(&flag)));
    out[warp.thread_rank()] = seen;
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 64>>>(out);
  return judge(out, 32, [](int) { return 7; });
}
