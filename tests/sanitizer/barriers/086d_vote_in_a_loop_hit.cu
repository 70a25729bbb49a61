// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 86, 84
// Lanes leave a loop by themselves whose vote names the whole warp, and meet others behind it.
#include "../twin.h"

__global__ void kernel(const int* steps, int* out) {
  const int lane = threadIdx.x;
  int left = steps[lane], turns = 0;
  while (left > 0) {
    turns += __popc(__ballot_sync(~0u, left > 1)) > 0;  // expect: warp-mask
    --left;
  }
  out[lane] = turns + __shfl_xor_sync(~0u, turns, 1);
}

int main() {
  int *steps = device<int>(32, [](int i) { return i % 4; }), *out = zeros(32);
  kernel<<<1, 32>>>(steps, out);
  return ended();
}
