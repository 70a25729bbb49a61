// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 97
// Two groups, each with accumulators of its own; those of the older are read when one group may still run.

#include "../wgmma.h"

__global__ void kernel(float* out) {
  TILES(a, b);
  float d[4] = {1, 1, 1, 1};
  float e[4] = {2, 2, 2, 2};
  WGMMA_FENCE(d);
  WGMMA_FENCE(e);
  WGMMA(d, a, b);
  WGMMA_COMMIT();
  WGMMA(e, a, b);
  WGMMA_COMMIT();
  asm volatile("wgmma.wait_group.sync.aligned 1;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  out[threadIdx.x] = d[0];
  WGMMA_WAIT(e);
  out[threadIdx.x] += e[0];
}

int main() {
  float* out = device<float>(128, [](int) { return 0.f; });
  kernel<<<1, 128>>>(out);
  return judge(out, 128, [](int) { return 17 + 18; });
}
