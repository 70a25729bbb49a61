// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 60
// They are for neighbouring words.
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
    BULK_ADD(out, tile, 128);
    BULK_COMMIT();
    BULK_WAIT(0);
  } else if (t == 32) {
    atomicAdd(out + 32, 1);
  }
}

int main() {
  int* out = zeros(33);
  kernel<<<1, 64>>>(out);
  return judge(out, 33, [](int i) { return i < 32 ? i : 1; });
}
