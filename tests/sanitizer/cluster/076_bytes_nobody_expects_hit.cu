// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 76
// st.async brings 4 bytes to a barrier that expects none.
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
  MBAR_ARRIVE(&bar);
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  uint32_t remote_data, remote_bar;
  REMOTE(remote_data, &data, rank ^ 1);
  REMOTE(remote_bar, &bar, rank ^ 1);
  ST_ASYNC(remote_data, 10 + rank, remote_bar);  // expect: mbarrier-tx
  MBAR_WAIT_CLUSTER(&bar, 0);
  __nanosleep(100000);
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return ended();
}
