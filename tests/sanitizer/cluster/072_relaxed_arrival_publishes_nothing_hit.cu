// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 72
// arrive.relaxed orders no memory: the peer may read what was there before.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ int data;
  uint32_t remote;
  REMOTE(remote, &data, blockIdx.x ^ 1);
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  REMOTE_STORE(remote, 10 + blockIdx.x);  // expect: race-shared A
  CLUSTER_ARRIVE_RELAXED();
  CLUSTER_WAIT();
  out[blockIdx.x] = data;  // expect: race-shared B
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return ended();
}
