// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 53, 118
// A ring of four stages: one thread loads, two warps read and give the stages back.
#include "../twin.h"

constexpr int kStages = 4, kTiles = 11;

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int ring[kStages][64];
  __shared__ uint64_t full[kStages], empty[kStages];
  const int t = threadIdx.x, warp = t / 32;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      MBAR_INIT(&full[s], 1);
      MBAR_INIT(&empty[s], 2);
    }
    FENCE_MBAR_INIT();
  }
  __syncthreads();
  int stage = 0, phase = 0;
  if (warp == 2) {
    if (t % 32 == 0) {
      for (int k = 0; k < kTiles; ++k) {
        MBAR_WAIT(&empty[stage], phase ^ 1);
        FENCE_ASYNC();
        MBAR_ARRIVE_EXPECT(&full[stage], 256);
        BULK_LOAD(ring[stage], in + 64 * k, 256, &full[stage]);
        if (++stage == kStages) stage = 0, phase ^= 1;
      }
    }
    return;
  }
  for (int k = 0; k < kTiles; ++k) {
    MBAR_WAIT(&full[stage], phase);
    out[64 * k + t] = ring[stage][t ^ 33];
    __syncwarp();
    if (t % 32 == 0) MBAR_ARRIVE(&empty[stage]);
    if (++stage == kStages) stage = 0, phase ^= 1;
  }
}

int main() {
  int *in = iota(64 * kTiles), *out = zeros(64 * kTiles);
  kernel<<<1, 96>>>(in, out);
  return judge(out, 64 * kTiles, [](int i) { return i ^ 33; });
}
