// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 37
// covers: A11, C3
// The remote arrival releases at its default scope, the block: the other block's wait gets nothing from it.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ uint64_t bar;
  __shared__ int data;
  const int rank = blockIdx.x;
  if (rank == 0) {
    MBAR_INIT(&bar, 1);
    FENCE_MBAR_INIT();
  }
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  if (rank == 1) {
    uint32_t remote_data, remote_bar;
    REMOTE(remote_data, &data, 0);
    REMOTE(remote_bar, &bar, 0);
    REMOTE_STORE(remote_data, 5);  // expect: race-scope A
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(remote_bar) : "memory");
  } else {
    MBAR_WAIT_CLUSTER(&bar, 0);
    out[0] = data;  // expect: race-scope B
  }
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(1);
  kernel<<<2, 1>>>(out);
  return ended();
}
