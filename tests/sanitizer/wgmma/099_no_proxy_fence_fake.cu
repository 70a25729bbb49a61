// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 99
// covers: A16
// Each thread fences its writes, then they meet.

#include "../wgmma.h"

__global__ void kernel(float* out) {
  __shared__ alignas(128) __half a[64 * 16], b[16 * 8];
  const int t = threadIdx.x;
  for (int i = t; i < 64 * 16; i += 128) a[i] = b[t] = __float2half(1.f);
  FENCE_ASYNC();
  __syncthreads();
  float d[4] = {0, 0, 0, 0};
  WGMMA_FENCE(d);
  WGMMA(d, a, b);
  WGMMA_COMMIT();
  WGMMA_WAIT(d);
  out[t] = d[0];
}

int main() {
  float* out = device<float>(128, [](int) { return 0.f; });
  kernel<<<1, 128>>>(out);
  return judge(out, 128, [](int) { return 16; });
}
