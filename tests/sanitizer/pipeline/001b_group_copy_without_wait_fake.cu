// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 1
// A block copies a tile together and reads it behind cg::wait.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(16) int tile[256];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof(tile));
  cg::wait(block);
  out[threadIdx.x] = tile[threadIdx.x * 3 % 256];
}

int main() {
  int *in = iota(256), *out = zeros(64);
  kernel<<<1, 64>>>(in, out);
  return judge(out, 64, [](int i) { return 3 * i; });
}
