// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 69
// The owner waits at the cluster barrier, behind the read of the other.
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
    REMOTE_LOAD(value, remote);
    out[0] = value;
  }
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(1);
  kernel<<<2, 1>>>(out);
  return judge(out, 1, [](int) { return 11; });
}
