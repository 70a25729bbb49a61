// SPDX-License-Identifier: Apache-2.0
// The chain runs backwards: block b waits for block b + 1. Legal while all blocks fit on the device together,
// as these few do.
#include "program.h"
using namespace program;

__global__ void chain(volatile uint32_t* value, volatile int* ready) {
  const int b = blockIdx.x;
  uint32_t before = 11;
  if (b + 1 < gridDim.x) {
    while (!ready[(b + 1) * 64 + threadIdx.x]) {}
    __threadfence();
    before = value[(b + 1) * 64 + (threadIdx.x ^ 1)];
  }
  __syncthreads();
  value[b * 64 + threadIdx.x] = mix(before + threadIdx.x);
  __threadfence();
  __syncthreads();
  ready[b * 64 + threadIdx.x] = 1;
}

int main() {
  const int blocks = 24;
  Device<uint32_t> value(blocks * 64);
  Device<int> ready(blocks * 64);
  chain<<<blocks, 64>>>(value, ready);
  MUST_RUN();
  std::vector<uint32_t> want(blocks * 64);
  for (int b = blocks - 1; b >= 0; --b)
    for (int t = 0; t < 64; ++t) want[b * 64 + t] = mix((b + 1 < blocks ? want[(b + 1) * 64 + (t ^ 1)] : 11) + t);
  expect_equal("backward chain", value.copy(), want);
  return finish();
}
