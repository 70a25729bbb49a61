// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 39
// A block tests the barrier of another block; only arrivals can be remote.
#include "../twin.h"

#define GENERIC_TEST(done, bar)                                                                         \
  asm volatile("{.reg .pred p; mbarrier.test_wait.parity.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}" \
               : "=r"(done)                                                                      \
               : "l"(bar)                                                                        \
               : "memory")

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ uint64_t bar;
  const int rank = blockIdx.x;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  uint32_t done = 0;
  uint64_t remote;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(remote) : "l"(&bar), "r"(rank ^ 1));
  GENERIC_TEST(done, remote);  // expect: mbarrier-remote
  out[rank] = done;
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return ended();
}
