// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 97
// The accumulators are read before wgmma.wait_group.

#include "../wgmma.h"

__global__ void kernel(float* out) {
  TILES(a, b);
  float d[4] = {1, 1, 1, 1};
  WGMMA_FENCE(d);
  WGMMA(d, a, b);  // expect: wgmma-wait A
  WGMMA_COMMIT();
  out[threadIdx.x] = d[0];  // expect: wgmma-wait B
  WGMMA_WAIT(d);
}

int main() {
  float* out = device<float>(128, [](int) { return 0.f; });
  kernel<<<1, 128>>>(out);
  return ended();
}
