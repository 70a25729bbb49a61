// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 87
// Lanes 0..15 take a value from lane 20, which is not there, and use it.
#include "../twin.h"

__global__ void kernel(int* out) {
  const int t = threadIdx.x;
  if (t < 16) {
    const int value = __shfl_sync(0xffff, t, 20);  // expect: warp-source A
    atomicAdd(out, value);                         // expect: warp-source B
  }
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 32>>>(out);
  return ended();
}
