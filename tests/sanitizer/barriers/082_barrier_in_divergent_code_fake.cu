// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 82
// Whole warps come to different bar.sync of one named barrier.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  if (t < 32) {
    tile[t] = t;
    BAR_SYNC(1, 64);
  } else {
    tile[t] = t + 100;
    BAR_SYNC(1, 64);
  }
  out[t] = tile[t ^ 32];
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return judge(out, 64, [](int i) { return i < 32 ? (i ^ 32) + 100 : i ^ 32; });
}
