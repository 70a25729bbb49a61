// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 85
// hangs
// The mask names lanes that wait elsewhere, for a flag set behind the __syncwarp.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int flag;
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncwarp();
  const uint64_t p = SMEM(&flag);
  if (t < 16) {
    __syncwarp();  // expect: deadlock A
    if (t == 0) STORE("release.cta.shared::cta", p, 1);
    out[t] = t;
  } else {
    int seen = 0;
    while (!seen) LOAD(seen, "acquire.cta.shared::cta", p);  // expect: deadlock B
  }
}

int main() {
  int* out = zeros(16);
  kernel<<<1, 32>>>(out);
  return ended();
}
