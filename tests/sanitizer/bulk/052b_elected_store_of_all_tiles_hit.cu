// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 52, 54
// Each warp's elected lane fences and stores what the warp wrote, without a sync of the warp.
#include "../twin.h"

__device__ bool elected() {
  uint32_t yes;
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p;}" : "=r"(yes));
  return yes;
}

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[4][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  tile[warp][lane] = threadIdx.x;  // expect: race-shared A
  if (elected()) {
    FENCE_ASYNC();
    BULK_STORE(out + 32 * warp, tile[warp], 128);  // expect: race-shared B
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}

int main() {
  int* out = zeros(128);
  kernel<<<1, 128>>>(out);
  return ended();
}
