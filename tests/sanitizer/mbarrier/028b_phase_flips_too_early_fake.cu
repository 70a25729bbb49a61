// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 28, 29
// A consumer's parity flips when its stage begins anew.
#include "../twin.h"

constexpr int kStages = 2, kTiles = 2;

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int ring[kStages][32];
  __shared__ uint64_t full[kStages];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) MBAR_INIT(&full[s], 1);
    FENCE_MBAR_INIT();
  }
  __syncwarp();
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      MBAR_ARRIVE_EXPECT(&full[s], 128);
      BULK_LOAD(ring[s], in + 32 * s, 128, &full[s]);
    }
  }
  int phase = 0;
  for (int k = 0; k < kTiles; ++k) {
    MBAR_WAIT(&full[k % kStages], phase);
    out[32 * k + t] = ring[k % kStages][t];
    if (k % kStages == kStages - 1) phase ^= 1;
  }
}

int main() {
  int *in = iota(64), *out = zeros(64);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 64, [](int i) { return i; });
}
