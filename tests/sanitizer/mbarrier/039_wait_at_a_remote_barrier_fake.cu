// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 39
// The remote block arrives, the owner tests.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ uint64_t bar;
  const int rank = blockIdx.x;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  uint32_t done = 0;
  uint32_t remote;
  REMOTE(remote, &bar, rank ^ 1);
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
  while (!done) MBAR_TEST(done, &bar, 0);
  out[rank] = done;
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return judge(out, 2, [](int) { return 1; });
}
