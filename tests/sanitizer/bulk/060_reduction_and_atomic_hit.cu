// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 60
// A bulk reduction and an atomic of another thread on one word: they are atomic in different proxies only.
#include "../twin.h"

#define BULK_ADD(dst, src, bytes)                                                                            \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(dst), \
               "r"(SMEM(src)), "r"(bytes)                                                                    \
               : "memory")

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[32];
  const int t = threadIdx.x;
  if (t < 32) tile[t] = t;
  FENCE_ASYNC();
  __syncthreads();
  if (t == 0) {
    BULK_ADD(out, tile, 128);  // expect: race-atomic A
    BULK_COMMIT();
    BULK_WAIT(0);
  } else if (t == 32) {
    atomicAdd(out + 31, 1);  // expect: race-atomic B
  }
}

int main() {
  int* out = zeros(33);
  kernel<<<1, 64>>>(out);
  return ended();
}
