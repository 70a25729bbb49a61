// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 119, 104
// A chained scan publishes its sum by a flag that is released and acquired.
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
    if (state == 2) return sum + tiles[k].prefix;
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
    const auto order = cuda::memory_order_release;
    tiles[tile].aggregate = sum;
    flag.store(tile == 0 ? 0 : 1, order);
    before = look_back(tiles, tile);
    tiles[tile].prefix = before + sum;
    flag.store(2, order);
  }
  __syncthreads();
  out[tile * 32 + threadIdx.x] = before + threadIdx.x;
}

int main() {
  Tile* tiles = device<Tile>(16, [](int) { return Tile{}; });
  int* out = zeros(16 * 32);
  kernel<<<16, 32>>>(tiles, out);
  return judge(out, 16 * 32, [](int i) { return i; });
}
