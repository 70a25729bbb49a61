// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 93
// The whole warps execute it, one lane each uses it.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int slot[2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) {
    slot[warp] = warp;
  }
  BAR_SYNC(1, 64);
  if (lane == 0) out[warp] = slot[warp ^ 1];
}

int main() {
  int* out = zeros(2);
  kernel<<<1, 64>>>(out);
  return judge(out, 2, [](int i) { return i ^ 1; });
}
