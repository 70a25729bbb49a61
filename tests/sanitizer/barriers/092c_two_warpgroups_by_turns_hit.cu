// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 92, 118
// Two warps take turns at a scratch tile, but the second one does not wait for its turn.
#include "../twin.h"

__global__ void kernel(int* out, int turns) {
  __shared__ int scratch[32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 1) BAR_ARRIVE(1, 64);
  for (int k = 0; k < turns; ++k) {
    if (warp == 0) BAR_SYNC(1, 64);
    scratch[lane] = 100 * k + 50 * warp + lane;  // expect: race-shared
    __syncwarp();
    out[(2 * k + warp) * 32 + lane] = scratch[lane ^ 1];
    if (warp == 0) BAR_ARRIVE(2, 64);
    if (warp == 1) BAR_SYNC(2, 64);
    if (warp == 1 && k + 1 < turns) BAR_ARRIVE(1, 64);
  }
}

int main() {
  int* out = zeros(64 * 3);
  kernel<<<1, 64>>>(out, 3);
  return ended();
}
