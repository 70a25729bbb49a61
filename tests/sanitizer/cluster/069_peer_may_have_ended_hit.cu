// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 69
// A block reads shared memory of its peer, which does not wait for that before it ends.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ int data;
  data = 10 + blockIdx.x;
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  if (blockIdx.x == 0) {
    uint32_t remote;
    int value;
    REMOTE(remote, &data, 1);
    REMOTE_LOAD(value, remote);  // expect: cluster-exit
    out[0] = value;
  }
}

int main() {
  int* out = zeros(1);
  kernel<<<2, 1>>>(out);
  return ended();
}
