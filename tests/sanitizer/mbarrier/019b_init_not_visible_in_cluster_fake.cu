// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 19
// fence.mbarrier_init before the relaxed arrival publishes just the initialisation.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ uint64_t bar;
  uint32_t rank = blockIdx.x, remote;
  if (threadIdx.x == 0) MBAR_INIT(&bar, 32);
  if (threadIdx.x == 0) FENCE_MBAR_INIT();
  __syncwarp();
  CLUSTER_ARRIVE_RELAXED();
  CLUSTER_WAIT();
  REMOTE(remote, &bar, rank ^ 1);
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
  MBAR_WAIT_CLUSTER(&bar, 0);
  out[rank * 32 + threadIdx.x] = rank;
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(64);
  kernel<<<2, 32>>>(out);
  return judge(out, 64, [](int i) { return i / 32; });
}
