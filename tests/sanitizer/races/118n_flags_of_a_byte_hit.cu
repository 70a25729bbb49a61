// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 118
// may: race-same-value
// One warp clears four flags of a byte by one word while others set theirs.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(4) bool flags[64];
  const int t = threadIdx.x;
  flags[t] = t % 2;  // expect: race-shared A
  if (t < 16) reinterpret_cast<unsigned*>(flags)[t] = 0x01010101u;  // expect: race-shared B
  __syncthreads();
  out[t] = __popc(reinterpret_cast<unsigned*>(flags)[t / 4]);
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
