// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 69
// Each block waits for what the other one sends it, and ends: no barrier of the cluster is needed for that.
#include "../twin.h"

#define ST_ASYNC(data, value, bar)                                                                                  \
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(data), "r"(value), \
               "r"(bar)                                                                                             \
               : "memory")

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ uint64_t bar;
  __shared__ int data[32];
  const int rank = blockIdx.x, lane = threadIdx.x;
  if (lane == 0) {
    MBAR_INIT(&bar, 1);
    FENCE_MBAR_INIT();
    MBAR_ARRIVE_EXPECT(&bar, 128);
  }
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  uint32_t remote_data, remote_bar;
  REMOTE(remote_data, &data[lane], rank ^ 1);
  REMOTE(remote_bar, &bar, rank ^ 1);
  ST_ASYNC(remote_data, 10 * rank + lane, remote_bar);
  MBAR_WAIT_CLUSTER(&bar, 0);
  out[rank * 32 + lane] = data[31 - lane];
}

int main() {
  int* out = zeros(64);
  kernel<<<2, 32>>>(out);
  return judge(out, 64, [](int i) { return 10 * (1 - i / 32) + 31 - i % 32; });
}
