// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 77
// covers: A14
// It is read behind the wait.
#include "../twin.h"

#define ST_ASYNC(data, value, bar)                                                                                  \
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(data), "r"(value), \
               "r"(bar)                                                                                             \
               : "memory")

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ uint64_t bar;
  __shared__ int data;
  const int rank = blockIdx.x;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 4);
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  uint32_t remote_data, remote_bar;
  REMOTE(remote_data, &data, rank ^ 1);
  REMOTE(remote_bar, &bar, rank ^ 1);
  ST_ASYNC(remote_data, 10 + rank, remote_bar);
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  MBAR_WAIT_CLUSTER(&bar, 0);
  out[rank] = data;
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return judge(out, 2, [](int i) { return 11 - i; });
}
