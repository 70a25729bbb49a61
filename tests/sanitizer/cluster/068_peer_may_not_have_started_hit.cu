// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 68
// A block writes shared memory of its peer without knowing that the peer has started.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ int data;
  uint32_t remote;
  REMOTE(remote, &data, blockIdx.x ^ 1);
  REMOTE_STORE(remote, 10 + blockIdx.x);  // expect: cluster-exit
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  out[blockIdx.x] = data;
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return ended();
}
