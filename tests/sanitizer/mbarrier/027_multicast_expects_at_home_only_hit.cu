// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 27
// may: async-exit
// A multicast copy brings bytes to both blocks, but block 1 expects none.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  const int t = threadIdx.x, rank = blockIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    FENCE_MBAR_INIT();
    if (rank == 0) MBAR_ARRIVE_EXPECT(&bar, 128);
  }
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  if (t == 0 && rank == 0) {
    BULK_MULTICAST(tile, in, 128, &bar, 3);  // expect: mbarrier-tx
  }
  if (rank == 0) MBAR_WAIT(&bar, 0);
  __nanosleep(100000);
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int *in = iota(32), *out = zeros(64);
  kernel<<<2, 32>>>(in, out);
  return ended();
}
