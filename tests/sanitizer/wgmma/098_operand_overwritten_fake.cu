// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 98
// It is overwritten behind the wait and a barrier.

#include "../wgmma.h"

__global__ void kernel(float* out) {
  TILES(a, b);
  float d[4] = {0, 0, 0, 0};
  WGMMA_FENCE(d);
  WGMMA(d, a, b);
  WGMMA_COMMIT();
  WGMMA_WAIT(d);
  __syncthreads();
  a[threadIdx.x] = __float2half(2.f);
  out[threadIdx.x] = d[0];
}

int main() {
  float* out = device<float>(128, [](int) { return 0.f; });
  kernel<<<1, 128>>>(out);
  return judge(out, 128, [](int) { return 16; });
}
