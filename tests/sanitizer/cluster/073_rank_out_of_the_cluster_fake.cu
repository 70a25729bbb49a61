// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 73
// The rank wraps around.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ int data;
  data = 10 + blockIdx.x;
  uint32_t remote;
  int value;
  REMOTE(remote, &data, (blockIdx.x + 1) % 2);
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  REMOTE_LOAD(value, remote);
  out[blockIdx.x] = value;
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return judge(out, 2, [](int i) { return 11 - i; });
}
