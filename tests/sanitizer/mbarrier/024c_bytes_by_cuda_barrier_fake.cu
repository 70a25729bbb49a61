// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 24, 29
// A tile comes by cuda::device::memcpy_async_tx, turn by turn at one barrier.
#include <cuda/barrier>
#include <cuda/ptx>

#include "../twin.h"
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void kernel(const int* in, int* out, int turns) {
  __shared__ alignas(128) int tile[64];
  __shared__ Barrier bar;
  const int t = threadIdx.x;
  if (t == 0) {
    init(&bar, 64);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  }
  __syncthreads();
  for (int k = 0; k < turns; ++k) {
    Barrier::arrival_token token;
    if (t == 0) {
      cuda::device::memcpy_async_tx(tile, in + 64 * k, cuda::aligned_size_t<16>(256), bar);
      token = cuda::device::barrier_arrive_tx(bar, 1, 256);
    } else {
      token = bar.arrive();
    }
    bar.wait(std::move(token));
    out[64 * k + t] = tile[t ^ 32];
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncthreads();
  }
}

int main() {
  int *in = iota(64 * 4), *out = zeros(64 * 4);
  kernel<<<1, 64>>>(in, out, 4);
  return judge(out, 64 * 4, [](int i) { return i ^ 32; });
}
