// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 54, 92
// Two groups write and store a tile by turns, and one writes before the other's store has read.
#include "../twin.h"

__global__ void kernel(int* out, int turns) {
  __shared__ alignas(128) int tile[64];
  const int t = threadIdx.x;
  for (int k = 0; k < turns; ++k) {
    BAR_SYNC(1, 64);
    tile[t ^ 32] = 64 * k + (t ^ 32);  // expect: async-group A
    FENCE_ASYNC();
    BAR_SYNC(1, 64);
    if (t == 0) {
      BULK_STORE(out + 64 * k, tile, 256);  // expect: async-group B
      BULK_COMMIT();
    }
  }
  if (t == 0) BULK_WAIT(0);
}

int main() {
  int* out = zeros(256);
  kernel<<<1, 64>>>(out, 4);
  return ended();
}
