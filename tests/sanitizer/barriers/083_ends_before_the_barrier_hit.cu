// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 83
// Some threads end before a barrier that the others come to: they count as arrived (a note).
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  if (t >= n) return;  // expect: barrier-exit A
  tile[t] = t;
  __syncthreads();  // expect: barrier-exit B
  out[t] = tile[n - 1 - t];
}

int main() {
  int* out = zeros(40);
  kernel<<<1, 64>>>(out, 40);
  return ended();
}
