// SPDX-License-Identifier: Apache-2.0
// A software barrier over the whole grid: all blocks must be resident together and make progress while others spin.
#include "program.h"
using namespace program;

__device__ void grid_sync(uint32_t* arrived, volatile uint32_t* phase, uint32_t round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(arrived, 1) == gridDim.x - 1) {
      *arrived = 0;
      __threadfence();
      *phase = round + 1;
    } else {
      while (*phase == round) {}
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void diffuse(volatile uint32_t* a, volatile uint32_t* b, uint32_t* arrived, uint32_t* phase, int rounds) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    volatile uint32_t *from = r % 2 ? b : a, *to = r % 2 ? a : b;
    to[i] = mix(from[i] + 3 * from[(i + n - 1) % n] + 5 * from[(i + blockDim.x) % n]);
    grid_sync(arrived, phase, r);
  }
}

int main() {
  const int blocks = 40, threads = 96, n = blocks * threads, rounds = 12;
  std::vector<uint32_t> v = random_words(n, 3);
  Device<uint32_t> a(v), b(n), arrived(1), phase(1);
  diffuse<<<blocks, threads>>>(a, b, arrived, phase, rounds);
  MUST_RUN();
  for (int r = 0; r < rounds; ++r) {
    const std::vector<uint32_t> before = v;
    for (int i = 0; i < n; ++i) v[i] = mix(before[i] + 3 * before[(i + n - 1) % n] + 5 * before[(i + threads) % n]);
  }
  expect_equal("diffusion over the grid", a.copy(), v);
  return finish();
}
