// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 52, 54
// Each warp's elected lane stores what the warp wrote and fenced, behind a sync of the warp.
#include "../twin.h"

__device__ bool elected() {
  uint32_t yes;
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p;}" : "=r"(yes));
  return yes;
}

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[4][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  tile[warp][lane] = threadIdx.x;
  FENCE_ASYNC();
  __syncwarp();
  if (elected()) {
    BULK_STORE(out + 32 * warp, tile[warp], 128);
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}

int main() {
  int* out = zeros(128);
  kernel<<<1, 128>>>(out);
  return judge(out, 128, [](int i) { return i; });
}
