// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 86, 84
// Lanes leave a loop together, by a vote of the whole warp.
#include "../twin.h"

__global__ void kernel(const int* steps, int* out) {
  const int lane = threadIdx.x;
  int left = steps[lane], turns = 0;
  while (__any_sync(~0u, left > 0)) {
    turns += __popc(__ballot_sync(~0u, left > 1)) > 0;
    --left;
  }
  out[lane] = turns + __shfl_xor_sync(~0u, turns, 1);
}

int main() {
  int *steps = device<int>(32, [](int i) { return i % 4; }), *out = zeros(32);
  kernel<<<1, 32>>>(steps, out);
  return judge(out, 32, [](int) { return 4; });
}
