// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 60
// covers: A13
// The atomic comes behind the wait for the reduction.
#include "../twin.h"

#define RED_ASYNC(data, value, bar)                                                                                    \
  asm volatile(                                                                                                        \
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(data),    \
      "r"(value), "r"(bar)                                                                                             \
      : "memory")

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ uint64_t bar;
  __shared__ int data;
  const int rank = blockIdx.x;
  data = 1;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 4);
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  uint32_t remote_data, remote_bar;
  REMOTE(remote_data, &data, rank ^ 1);
  REMOTE(remote_bar, &bar, rank ^ 1);
  RED_ASYNC(remote_data, 10 + rank, remote_bar);
  MBAR_WAIT_CLUSTER(&bar, 0);
  atomicAdd(&data, 100);
  out[rank] = data;
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return judge(out, 2, [](int i) { return 112 - i; });
}
