// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 77
// A block changes the tile that it sends to the other one's shared memory when the other has got it.
#include "../twin.h"

constexpr int kRounds = 3, kBytes = 128;

#define BULK_SEND(address, src, bytes, bar)                                                                          \
  asm volatile(                                                                                                      \
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address), \
      "r"(SMEM(src)), "r"(bytes), "r"(bar)                                                                           \
      : "memory")

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ alignas(128) int mine[32], theirs[kRounds][32];
  __shared__ uint64_t got;
  const int t = threadIdx.x;
  uint32_t box, bar;
  REMOTE(box, theirs, (blockIdx.x + 1) % 2);
  REMOTE(bar, &got, (blockIdx.x + 1) % 2);
  if (t == 0) {
    MBAR_INIT(&got, 1);
    FENCE_MBAR_INIT();
  }
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  for (int round = 0; round < kRounds; ++round) {
    mine[t] = 100 * round + t + blockIdx.x;
    FENCE_ASYNC();
    __syncthreads();
    if (t == 0) {
      MBAR_ARRIVE_EXPECT(&got, kBytes);
      BULK_SEND(box + kBytes * round, mine, kBytes, bar);
    }
    MBAR_WAIT_CLUSTER(&got, round % 2);
    out[64 * round + 32 * blockIdx.x + t] = theirs[round][31 - t];
    CLUSTER_ARRIVE();
    CLUSTER_WAIT();
  }
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int* out = zeros(64 * kRounds);
  kernel<<<2, 32>>>(out);
  return judge(out, 64 * kRounds, [](int i) { return 100 * (i / 64) + 31 - i % 32 + (i / 32 + 1) % 2; });
}
