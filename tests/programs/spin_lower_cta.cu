// SPDX-License-Identifier: Apache-2.0
// A chain through the grid: block b waits until block b - 1 has published its value.
// More blocks than fit on a device at once.
#include "program.h"
using namespace program;

__global__ void chain(volatile uint32_t* value, volatile int* ready) {
  __shared__ uint32_t before;
  if (threadIdx.x == 0) {
    if (blockIdx.x) {
      while (!ready[blockIdx.x - 1]) {}
      __threadfence();
      before = value[blockIdx.x - 1];
    } else {
      before = 7;
    }
  }
  __syncthreads();
  const uint32_t sum = __reduce_add_sync(~0u, mix(before + threadIdx.x % 32));
  if (threadIdx.x == 0) {
    value[blockIdx.x] = sum;
    __threadfence();
    ready[blockIdx.x] = 1;
  }
}

int main() {
  const int blocks = 6000;
  Device<uint32_t> value(blocks);
  Device<int> ready(blocks);
  chain<<<blocks, 64>>>(value, ready);
  MUST_RUN();
  std::vector<uint32_t> want(blocks);
  uint32_t before = 7;
  for (uint32_t& w : want) {
    uint32_t sum = 0;
    for (int lane = 0; lane < 32; ++lane) sum += mix(before + lane);
    before = w = sum;
  }
  expect_equal("chain through 6000 blocks", value.copy(), want);
  return finish();
}
