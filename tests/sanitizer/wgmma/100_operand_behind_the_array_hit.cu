// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 100
// The descriptor of A points into the middle of the array: its second half lies behind it.

#include "../wgmma.h"

__global__ void kernel(float* out) {
  __shared__ alignas(128) __half b[16 * 8];
  __shared__ alignas(128) __half a[64 * 16];
  const int t = threadIdx.x;
  for (int i = t; i < sizeof(a) / sizeof(__half); i += 128) a[i] = __float2half(1.f);
  b[t] = __float2half(1.f);
  FENCE_ASYNC();
  __syncthreads();
  float d[4] = {0, 0, 0, 0};
  WGMMA_FENCE(d);
  WGMMA(d, a + 32 * 16, b);  // expect: bounds-shared
  WGMMA_COMMIT();
  WGMMA_WAIT(d);
  out[t] = d[0];
}

int main() {
  float* out = device<float>(128, [](int) { return 0.f; });
  kernel<<<1, 128>>>(out);
  return ended();
}
