// SPDX-License-Identifier: Apache-2.0
// Lanes of one warp that wait for each other through memory, in every direction.
#include "program.h"
using namespace program;

// Lane l waits for lane l - step (cyclic order over 32 lanes, starting at `first`).
__global__ void relay(volatile uint32_t* token, uint32_t* out, int first, int step) {
  const int lane = threadIdx.x, rank = ((lane - first) * step) & 31;  // step is odd: a permutation
  while (token[0] != rank) {}
  __threadfence_block();
  token[1] = mix(token[1] + lane);
  out[lane] = token[1];
  __threadfence_block();
  token[0] = rank + 1;
}

// Even lanes produce, odd lanes consume, through one-word mailboxes in shared memory.
__global__ void mailboxes(uint32_t* out, int rounds) {
  __shared__ volatile uint32_t box[16], full[16];
  const int pair = threadIdx.x / 2;
  if (threadIdx.x < 16) full[threadIdx.x] = 0;
  __syncwarp();
  if (threadIdx.x % 2 == 0) {
    for (int i = 0; i < rounds; ++i) {
      while (full[pair]) {}
      box[pair] = mix(pair * 1000 + i);
      __threadfence_block();
      full[pair] = 1;
    }
  } else {
    uint32_t sum = 0;
    for (int i = 0; i < rounds; ++i) {
      while (!full[pair]) {}
      __threadfence_block();
      sum = sum * 31 + box[pair];
      __threadfence_block();
      full[pair] = 0;
    }
    out[pair] = sum;
  }
}

int main() {
  for (int step : {1, 31, 7, 13}) {
    Device<uint32_t> token(2), out(32);
    relay<<<1, 32>>>(token, out, 5, step);
    MUST_RUN();
    std::vector<uint32_t> want(32);
    uint32_t value = 0;
    for (int rank = 0; rank < 32; ++rank)
      for (int lane = 0; lane < 32; ++lane)
        if ((((lane - 5) * step) & 31) == rank) want[lane] = value = mix(value + lane);
    expect_equal("relay", out.copy(), want);
  }
  Device<uint32_t> out(16);
  mailboxes<<<1, 32>>>(out, 50);
  MUST_RUN();
  std::vector<uint32_t> want(16);
  for (int pair = 0; pair < 16; ++pair)
    for (int i = 0; i < 50; ++i) want[pair] = want[pair] * 31 + mix(pair * 1000 + i);
  expect_equal("mailboxes", out.copy(), want);
  return finish();
}
