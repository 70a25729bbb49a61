// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 94
// Half of the warps execute it: one whole warpgroup.
#include "../twin.h"

__global__ void kernel(int* out) {
  const int t = threadIdx.x;
  if (t < 128) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  out[t] = t;
}

int main() {
  int* out = zeros(256);
  kernel<<<1, 256>>>(out);
  return judge(out, 256, [](int i) { return i; });
}
