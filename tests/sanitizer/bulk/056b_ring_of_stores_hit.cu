// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 56
// A ring of two stages stores by bulk copies and waits for all but two of them before it writes a stage again.
#include "../twin.h"

__global__ void kernel(int* out, int tiles) {
  __shared__ alignas(128) int ring[2][32];
  const int lane = threadIdx.x;
  for (int k = 0; k < tiles; ++k) {
    ring[k % 2][lane] = 32 * k + lane;  // expect: async-group A
    FENCE_ASYNC();
    __syncwarp();
    if (lane == 0) {
      BULK_STORE(out + 32 * k, ring[k % 2], 128);  // expect: async-group B
      BULK_COMMIT();
      BULK_WAIT_READ(2);
    }
    __syncwarp();
  }
  BULK_WAIT(0);
}

int main() {
  int* out = zeros(256);
  kernel<<<1, 32>>>(out, 8);
  return ended();
}
