// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 60, 57
// Blocks add their tiles by bulk reductions; the last one reads after waits for the sources only.
#include "../twin.h"

#define BULK_ADD(dst, src, bytes)                                                                                \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(dst),          \
               "r"(SMEM(src)), "r"(bytes)                                                                        \
               : "memory")

__global__ void kernel(int* sums, int* count, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ bool last;
  const int lane = threadIdx.x;
  tile[lane] = lane;
  FENCE_ASYNC();
  __syncwarp();
  if (lane == 0) {
    BULK_ADD(sums, tile, 128);  // expect: async-group A
    BULK_COMMIT();
    BULK_WAIT_READ(0);
    __threadfence();
    last = atomicAdd(count, 1) == 3;
    __threadfence();
  }
  __syncwarp();
  if (last) out[lane] = sums[lane];  // expect: async-group B
}

int main() {
  int *sums = zeros(32), *count = zeros(1), *out = zeros(32);
  kernel<<<4, 32>>>(sums, count, out);
  return ended();
}
