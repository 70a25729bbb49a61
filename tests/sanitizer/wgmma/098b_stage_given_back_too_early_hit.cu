// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 98
// A stage is given back to its loader before the product that reads it is over.
#include "../wgmma.h"

constexpr int kTiles = 4;

__global__ void kernel(const __half* in, float* out) {
  __shared__ alignas(128) __half a[2][64 * 16];
  __shared__ alignas(128) __half b[16 * 8];
  __shared__ uint64_t full[2], empty[2];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 2; ++s) {
      MBAR_INIT(&full[s], 1);
      MBAR_INIT(&empty[s], 128);
    }
    FENCE_MBAR_INIT();
  }
  if (t < 128) b[t] = __float2half(1.f);
  FENCE_ASYNC();
  __syncthreads();
  if (t >= 128) {
    if (t > 128) return;
    for (int k = 0; k < kTiles; ++k) {
      MBAR_WAIT(&empty[k % 2], (k / 2) & 1 ^ 1);
      MBAR_ARRIVE_EXPECT(&full[k % 2], 2048);
      BULK_LOAD(a[k % 2], in + 1024 * k, 2048, &full[k % 2]);  // expect: wgmma-wait A
    }
    return;
  }
  float d[4] = {0, 0, 0, 0};
  for (int k = 0; k < kTiles; ++k) {
    MBAR_WAIT(&full[k % 2], (k / 2) & 1);
    WGMMA_FENCE(d);
    WGMMA(d, a[k % 2], b);  // expect: wgmma-wait B
    WGMMA_COMMIT();
    MBAR_ARRIVE(&empty[k % 2]);
    WGMMA_WAIT(d);
  }
  out[t] = d[0];
}

int main() {
  __half* in = device<__half>(1024 * kTiles, [](int) { return __float2half(1.f); });
  float* out = device<float>(128, [](int) { return 0.f; });
  kernel<<<1, 160>>>(in, out);
  return ended();
}
