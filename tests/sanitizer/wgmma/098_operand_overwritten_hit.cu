// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 98
// A tile in shared memory is overwritten while the wgmma may still read it.

#include "../wgmma.h"

__global__ void kernel(float* out) {
  TILES(a, b);
  float d[4] = {0, 0, 0, 0};
  WGMMA_FENCE(d);
  WGMMA(d, a, b);  // expect: wgmma-wait A
  WGMMA_COMMIT();
  a[threadIdx.x] = __float2half(2.f);  // expect: wgmma-wait B
  WGMMA_WAIT(d);
  out[threadIdx.x] = d[0];
}

int main() {
  float* out = device<float>(128, [](int) { return 0.f; });
  kernel<<<1, 128>>>(out);
  return ended();
}
