// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 87
// A broadcast among 16 lanes takes the value of a lane of the other half.
#include "../twin.h"

__global__ void kernel(int* out) {
  const int lane = threadIdx.x;
  if (lane < 16) {
    const int v = __shfl_sync(0xffff, lane, 20);  // expect: warp-source
    out[lane] = v;
  } else {
    out[lane] = lane;
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return ended();
}
