// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 70
// A remote arrival at the barrier of a block that may have ended.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  if (blockIdx.x == 0) {
    uint32_t remote;
    REMOTE(remote, &bar, 1);
    // expect: cluster-exit
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
  }
  out[blockIdx.x] = 1;
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return ended();
}
