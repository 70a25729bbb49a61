// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 123
// An index runs over the end of a shared array, into whatever lies behind it.
#include "../twin.h"

__global__ void kernel(int* out, int skip) {
  __shared__ int tile[32];
  __shared__ int behind[32];
  const int t = threadIdx.x;
  tile[t] = t;
  behind[t] = t;
  __syncthreads();
  out[t] = tile[t + skip];  // expect: bounds-shared
  out[t] += behind[t];
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out, 1);
  return ended();
}
