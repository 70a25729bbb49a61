// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 4
// With two tiles under way the block waits for all but one.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(16) int tile[2][64];
  const auto block = cg::this_thread_block();
  const int t = threadIdx.x;
  cg::memcpy_async(block, tile[0], in, sizeof(tile[0]));
  for (int k = 1; k <= 4; ++k) {
    if (k < 4) {
      cg::memcpy_async(block, tile[k & 1], in + 64 * k, sizeof(tile[0]));
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    out[64 * (k - 1) + t] = tile[(k - 1) & 1][63 - t];
    block.sync();
  }
}

int main() {
  int *in = iota(256), *out = zeros(256);
  kernel<<<1, 64>>>(in, out);
  return judge(out, 256, [](int i) { return i ^ 63; });
}
