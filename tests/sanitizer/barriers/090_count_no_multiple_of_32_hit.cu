// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 90
// A named barrier of 48 threads; barriers count warps.
#include "../twin.h"

__global__ void kernel(int* out, int count) {
  __shared__ int tile[48];
  const int t = threadIdx.x;
  tile[t] = t;
  BAR_SYNC(1, count);  // expect: barrier-count
  out[t] = tile[t];
}

int main() {
  int* out = zeros(48);
  kernel<<<1, 48>>>(out, 48);
  return ended();
}
