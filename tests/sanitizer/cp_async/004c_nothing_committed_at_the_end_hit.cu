// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 4
// Behind the last fetch nothing is committed, so waiting for all groups but one is too little for the last tile.
#include "../twin.h"

constexpr int kTiles = 5, kStages = 3;

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(16) int stage[kStages][128];
  const int t = threadIdx.x;
  const auto fetch = [&](int tile) {
    CP_ASYNC(&stage[tile % kStages][4 * t], in + 128 * tile + 4 * t, 16);  // expect: async-group A
  };
  for (int tile = 0; tile < kStages - 1; ++tile) {
    fetch(tile);
    CP_COMMIT();
  }
  int sum = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    CP_WAIT(1);
    __syncthreads();
    if (tile + 2 < kTiles) {
      fetch(tile + 2);
      CP_COMMIT();
    }
    for (int k = 0; k < 4; ++k) sum += stage[tile % kStages][t + 32 * k];  // expect: async-group B
  }
  out[t] = sum;
}

int main() {
  int *in = iota(128 * kTiles), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
