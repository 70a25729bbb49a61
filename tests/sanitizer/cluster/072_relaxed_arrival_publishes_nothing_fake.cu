// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 72
// A fence of cluster scope before the relaxed arrival publishes the write.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ int data;
  uint32_t remote;
  REMOTE(remote, &data, blockIdx.x ^ 1);
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  REMOTE_STORE(remote, 10 + blockIdx.x);
  FENCE("acq_rel.cluster");
  CLUSTER_ARRIVE_RELAXED();
  CLUSTER_WAIT();
  out[blockIdx.x] = data;
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return judge(out, 2, [](int i) { return 11 - i; });
}
