// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 27, 75
// A multicast ring hears from both blocks that a stage was read.
#include "../twin.h"

constexpr int kTiles = 5;
#define ARRIVE_AT(bar, rank)                                                                                   \
  asm volatile(                                                                                                \
      "{.reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; mbarrier.arrive.release.cluster.shared::cluster.b64 " \
      "_, [a];}" ::"r"(SMEM(bar)),                                                                             \
      "r"(rank)                                                                                                \
      : "memory")

__global__ void __cluster_dims__(2) kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t full, empty;
  const int rank = blockIdx.x, t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_INIT(&empty, 2);
    FENCE_MBAR_INIT();
  }
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
  for (int k = 0; k < kTiles; ++k) {
    if (t == 0) {
      MBAR_ARRIVE_EXPECT(&full, 128);
      if (rank == 0) {
        if (k > 0) MBAR_WAIT_CLUSTER(&empty, (k - 1) & 1);
        FENCE_ASYNC();
        BULK_MULTICAST(tile, in + 32 * k, 128, &full, 3);
      }
    }
    MBAR_WAIT_CLUSTER(&full, k & 1);
    out[(k * 2 + rank) * 32 + t] = tile[31 - t];
    __syncwarp();
    if (t == 0) ARRIVE_AT(&empty, 0);
  }
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}

int main() {
  int *in = iota(32 * kTiles), *out = zeros(64 * kTiles);
  kernel<<<2, 32>>>(in, out);
  return judge(out, 64 * kTiles, [](int i) { return (i / 64) * 32 + (i % 32 ^ 31); });
}
