// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 97
// The wait in the loop leaves the last group in flight, and nothing waits behind the loop.
#include "../wgmma.h"
__global__ void kernel(float* out, int n) {
  TILES(a, b);
  float d[4] = {0, 0, 0, 0};
  WGMMA_FENCE(d);
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    WGMMA(d, a, b);  // expect: wgmma-wait A
    WGMMA_COMMIT();
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  out[threadIdx.x] = d[0] + 1;  // expect: wgmma-wait B
}
int main() {
  float* out = device<float>(128, [](int) { return 0.f; });
  kernel<<<1, 128>>>(out, 3);
  return ended();
}
