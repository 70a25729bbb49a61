// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 73
// mapa to rank 2 of a cluster of two.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ int data;
  data = 10 + blockIdx.x;
  uint32_t remote;
  int value;
  REMOTE(remote, &data, blockIdx.x + 1);
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
