// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 106
// ld.global.nc of what the same kernel wrote before.
#include "../twin.h"

__global__ void kernel(int* data, int* out) {
  const int t = threadIdx.x;
  data[t] = 100 + t;  // expect: race-nc A
  __syncthreads();
  out[t] = __ldg(data + (t ^ 1));  // expect: race-nc B
}

int main() {
  int *data = iota(64), *out = zeros(32);
  kernel<<<1, 32>>>(data, out);
  return ended();
}
