// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 95, 92
// A loader and two computing warpgroups with setmaxnreg, rings of mbarriers and a barrier for each group.
#include "../twin.h"

constexpr int kStages = 2, kTiles = 6;

__global__ void __launch_bounds__(384, 1) kernel(const int* in, int* out) {
  __shared__ alignas(128) int ring[kStages][128];
  __shared__ int sums[2][128];
  __shared__ uint64_t full[kStages], empty[kStages];
  const int t = threadIdx.x, group = t / 128, in_group = t % 128;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      MBAR_INIT(&full[s], 1);
      MBAR_INIT(&empty[s], 2);
    }
    FENCE_MBAR_INIT();
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (t == 0) {
      for (int k = 0; k < kTiles; ++k) {
        MBAR_WAIT(&empty[k % kStages], k / kStages & 1 ^ 1);
        FENCE_ASYNC();
        MBAR_ARRIVE_EXPECT(&full[k % kStages], 512);
        BULK_LOAD(ring[k % kStages], in + 128 * k, 512, &full[k % kStages]);
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
    int sum = 0;
    for (int k = 0; k < kTiles; ++k) {
      MBAR_WAIT(&full[k % kStages], k / kStages & 1);
      sum += ring[k % kStages][in_group ^ group];
      BAR_SYNC(group, 128);
      if (in_group == 0) MBAR_ARRIVE(&empty[k % kStages]);
    }
    sums[group - 1][in_group ^ 127] = sum;
    BAR_SYNC(group, 128);
    out[t - 128] = sums[group - 1][in_group];
  }
}

int main() {
  int *in = device<int>(128 * kTiles, [](int i) { return i / 128; }), *out = zeros(256);
  kernel<<<1, 384>>>(in, out);
  return judge(out, 256, [](int) { return 15; });
}
