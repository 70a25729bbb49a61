// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 91
// Barrier 16; there are 0 to 15.
#include "../twin.h"

__global__ void kernel(int* out, int id) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  BAR_SYNC(id, 64);  // expect: barrier-count
  out[t] = tile[t ^ 32];
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out, 16);
  return ended();
}
