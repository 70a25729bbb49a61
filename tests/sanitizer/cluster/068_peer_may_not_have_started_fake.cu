// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 68
// Arrival and wait of the cluster barrier stand apart, with the write behind the wait.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ int data;
  uint32_t remote;
  REMOTE(remote, &data, blockIdx.x ^ 1);
  CLUSTER_ARRIVE();
  const int value = 10 + blockIdx.x;
  CLUSTER_WAIT();
  REMOTE_STORE(remote, value);
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  out[blockIdx.x] = data;
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return judge(out, 2, [](int i) { return 11 - i; });
}
