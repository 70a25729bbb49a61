// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 81
// The kernel asks how many blocks its cluster has.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int data;
  data = 10 + blockIdx.x;
  uint32_t remote, size;
  int value;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  REMOTE(remote, &data, (blockIdx.x ^ 1) % size);
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
  return judge(out, 2, [](int i) { return 10 + i; });
}
