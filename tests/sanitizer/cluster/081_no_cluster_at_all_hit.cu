// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 81
// A kernel made for clusters is launched without: there is no rank 1.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int data;
  data = 10 + blockIdx.x;
  uint32_t remote, size;
  int value;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  REMOTE(remote, &data, blockIdx.x ^ 1);
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  REMOTE_LOAD(value, remote);  // expect: cluster-rank
  out[blockIdx.x] = value;
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return ended();
}
