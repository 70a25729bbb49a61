// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 96
// The second wgmma of the same shape and accumulators needs no fence of its own.

#include "../wgmma.h"

__global__ void kernel(float* out) {
  TILES(a, b);
  float d[4] = {1, 1, 1, 1};
  WGMMA_FENCE(d);
  WGMMA(d, a, b);
  WGMMA(d, a, b);
  WGMMA_COMMIT();
  WGMMA_WAIT(d);
  out[threadIdx.x] = d[0];
}

int main() {
  float* out = device<float>(128, [](int) { return 0.f; });
  kernel<<<1, 128>>>(out);
  return judge(out, 128, [](int) { return 33; });
}
