// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 54, 92
// Two groups write and store a tile by turns, each behind a wait of who stored and a barrier.
#include "../twin.h"

__global__ void kernel(int* out, int turns) {
  __shared__ alignas(128) int tile[64];
  const int t = threadIdx.x;
  for (int k = 0; k < turns; ++k) {
    if (t == 0 && k > 0) BULK_WAIT_READ(0);
    BAR_SYNC(1, 64);
    tile[t ^ 32] = 64 * k + (t ^ 32);
    FENCE_ASYNC();
    BAR_SYNC(1, 64);
    if (t == 0) {
      BULK_STORE(out + 64 * k, tile, 256);
      BULK_COMMIT();
    }
  }
  if (t == 0) BULK_WAIT(0);
}

int main() {
  int* out = zeros(256);
  kernel<<<1, 64>>>(out, 4);
  return judge(out, 256, [](int i) { return i; });
}
