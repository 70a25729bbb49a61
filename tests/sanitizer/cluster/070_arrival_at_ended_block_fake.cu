// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 70
// The owner waits for the arrival before it ends: nothing else has to keep it alive.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  if (blockIdx.x == 0) {
    uint32_t remote;
    REMOTE(remote, &bar, 1);
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
  } else {
    MBAR_WAIT_CLUSTER(&bar, 0);
  }
  out[blockIdx.x] = 1;
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return judge(out, 2, [](int) { return 1; });
}
