// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 19
// The initialisation gets to the other block only by a relaxed arrival, which publishes nothing.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ uint64_t bar;
  uint32_t rank = blockIdx.x, remote;
  if (threadIdx.x == 0) MBAR_INIT(&bar, 32);  // expect: mbarrier-init A
  __syncwarp();
  CLUSTER_ARRIVE_RELAXED();
  CLUSTER_WAIT();
  REMOTE(remote, &bar, rank ^ 1);
  // expect: mbarrier-init B
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
  MBAR_WAIT_CLUSTER(&bar, 0);
  out[rank * 32 + threadIdx.x] = rank;
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(64);
  kernel<<<2, 32>>>(out);
  return ended();
}
