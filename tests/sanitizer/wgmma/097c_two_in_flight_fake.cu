// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 97
// Two products are in flight on two sets of sums, and the first is read after a wait for all but one.
#include "../wgmma.h"

#define WAIT_FOR(n, d) \
  asm volatile("wgmma.wait_group.sync.aligned %4;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "n"(n) : "memory")

__global__ void kernel(float* out) {
  TILES(a, b);
  float d[4] = {0, 0, 0, 0}, e[4] = {1, 1, 1, 1};
  WGMMA_FENCE(d);
  WGMMA_FENCE(e);
  WGMMA(d, a, b);
  WGMMA_COMMIT();
  WGMMA(e, a, b);
  WGMMA_COMMIT();
  WAIT_FOR(1, d);
  out[threadIdx.x] = d[0];
  WAIT_FOR(0, e);
  out[128 + threadIdx.x] = e[0];
}

int main() {
  float* out = device<float>(256, [](int) { return 0.f; });
  kernel<<<1, 128>>>(out);
  return judge(out, 256, [](int i) { return i < 128 ? 16 : 17; });
}
