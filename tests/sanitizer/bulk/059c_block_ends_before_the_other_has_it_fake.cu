// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 59, 77
// A block sends its tile to the other block of the cluster and ends when that one has it, which a relaxed arrival says.
#include "../twin.h"

#define BULK_SEND(address, src, bytes, bar)                                                                          \
  asm volatile(                                                                                                      \
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address), \
      "r"(SMEM(src)), "r"(bytes), "r"(bar)                                                                           \
      : "memory")

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ alignas(128) int mine[32], theirs[32];
  __shared__ uint64_t got;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&got, 1);
    FENCE_MBAR_INIT();
  }
  mine[t] = 100 + t;
  FENCE_ASYNC();
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  if (blockIdx.x == 0) {
    uint32_t box, bar;
    REMOTE(box, theirs, 1);
    REMOTE(bar, &got, 1);
    if (t == 0) BULK_SEND(box, mine, 128, bar);
    CLUSTER_ARRIVE_RELAXED();
    CLUSTER_WAIT();
    return;
  }
  if (t == 0) MBAR_ARRIVE_EXPECT(&got, 128);
  MBAR_WAIT_CLUSTER(&got, 0);
  CLUSTER_ARRIVE_RELAXED();
  out[t] = theirs[31 - t];
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(32);
  kernel<<<2, 32>>>(out);
  return judge(out, 32, [](int i) { return 131 - i; });
}
