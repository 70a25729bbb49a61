// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119, 104
// may: race-global
// A chained scan publishes its sum by a relaxed flag.
#include <cuda/atomic>

#include "../twin.h"

struct Tile {
  int flag;
  int aggregate, prefix;
};

__device__ int look_back(Tile* tiles, int tile) {
  int sum = 0;
  for (int k = tile - 1; k >= 0; --k) {
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(tiles[k].flag);
    int state;
    while ((state = flag.load(cuda::memory_order_acquire)) == 0) {
    }
    if (state == 2) return sum + tiles[k].prefix;  // expect: race-global A
    sum += tiles[k].aggregate;
  }
  return sum;
}

__global__ void kernel(Tile* tiles, int* out) {
  __shared__ int before;
  const int tile = blockIdx.x;
  const int sum = __syncthreads_count(true);
  if (threadIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(tiles[tile].flag);
    const auto order = cuda::memory_order_relaxed;
    tiles[tile].aggregate = sum;
    flag.store(tile == 0 ? 0 : 1, order);
    before = look_back(tiles, tile);
    tiles[tile].prefix = before + sum;  // expect: race-global B
    flag.store(2, order);
  }
  __syncthreads();
  out[tile * 32 + threadIdx.x] = before + threadIdx.x;
}

int main() {
  Tile* tiles = device<Tile>(16, [](int) { return Tile{}; });
  int* out = zeros(16 * 32);
  kernel<<<16, 32>>>(tiles, out);
  return ended();
}
