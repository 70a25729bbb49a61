// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 96
// The accumulators were written by the threads; no wgmma.fence orders that before the first wgmma.

#include "../wgmma.h"

__global__ void kernel(float* out) {
  TILES(a, b);
  float d[4] = {1, 1, 1, 1};
  WGMMA(d, a, b);  // expect: wgmma-fence
  WGMMA_COMMIT();
  WGMMA_WAIT(d);
  out[threadIdx.x] = d[0];
}

int main() {
  float* out = device<float>(128, [](int) { return 0.f; });
  kernel<<<1, 128>>>(out);
  return ended();
}
