// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// covers: errata memcpy_async counts bytes
// cooperative_groups::memcpy_async counts bytes: block.size() brings a quarter of the integers.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(16) int tile[64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, block.size());
  cg::wait(block);
  if (tile[block.thread_rank()] >= 0) out[block.thread_rank()] = 1;  // expect: uninitialised
}

int main() {
  int *in = iota(64), *out = zeros(64);
  kernel<<<1, 64>>>(in, out);
  return ended();
}
