// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118, 6
// A ring of cp.async refills the stage of the last turn behind the barrier.
#include "../twin.h"

constexpr int kStages = 3, kTiles = 6;

__global__ void kernel(const int* in, int* out) {
  __shared__ int ring[kStages][64];
  const int t = threadIdx.x;
  auto load = [&](int tile) {
    if (tile < kTiles) CP_ASYNC(&ring[tile % kStages][t], in + tile * 64 + t, 4);
    CP_COMMIT();
  };
  for (int k = 0; k < kStages - 1; ++k) load(k);
  int sum = 0;
  for (int k = 0; k < kTiles; ++k) {
    CP_WAIT(kStages - 2);
    __syncthreads();
    load(k + kStages - 1);
    sum += ring[k % kStages][63 - t];
  }
  out[t] = sum;
}

int main() {
  int *in = device<int>(64 * kTiles, [](int i) { return i / 64; }), *out = zeros(64);
  kernel<<<1, 64>>>(in, out);
  return judge(out, 64, [](int) { return 15; });
}
