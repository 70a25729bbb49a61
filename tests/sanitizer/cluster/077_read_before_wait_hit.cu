// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 77
// covers: A14
// What st.async brings is read behind the cluster barrier, but before the wait at the mbarrier.
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
  ST_ASYNC(remote_data, 10 + rank, remote_bar);  // expect: async-mbarrier A
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  out[rank] = data;  // expect: async-mbarrier B
  MBAR_WAIT_CLUSTER(&bar, 0);
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return ended();
}
