// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 93
// Whole warps meet; some lanes have stored and ended before, and have come to nothing that the others come to.
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  __shared__ int slot[2];
  const int t = threadIdx.x, warp = t / 32;
  if (t % 32 >= n) {
    out[2 + t] = -t;
    return;
  }
  if (t % 32 == 0) slot[warp] = warp;
  BAR_SYNC(1, 64);
  if (t % 32 == 0) out[warp] = slot[warp ^ 1];
  out[2 + t] = t;
}

int main() {
  int* out = zeros(66);
  kernel<<<1, 64>>>(out, 20);
  return judge(out, 66, [](int i) { return i < 2 ? i ^ 1 : (i - 2) % 32 >= 20 ? 2 - i : i - 2; });
}
