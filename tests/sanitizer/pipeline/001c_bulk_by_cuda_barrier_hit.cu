// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 1
// may: race-shared, mbarrier-init-fence
// A tile comes by cuda::memcpy_async with a barrier; one arrives and reads without waiting.
#include <cooperative_groups.h>
#include <cuda/barrier>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  const auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof(tile)), bar);  // expect: async-mbarrier A
  auto token = bar.arrive();
  if (threadIdx.x >= 32) bar.wait(std::move(token));
  out[threadIdx.x] = tile[threadIdx.x * 3];  // expect: async-mbarrier B
  if (threadIdx.x < 32) bar.wait(std::move(token));
}

int main() {
  int *in = iota(256), *out = zeros(64);
  kernel<<<1, 64>>>(in, out);
  return ended();
}
