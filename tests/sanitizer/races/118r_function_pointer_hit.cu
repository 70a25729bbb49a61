// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 118
// An operation that is called by pointer reads the neighbour's word in the same turn.
#include "../twin.h"

using Op = int (*)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int larger(int a, int b) { return a > b ? a : b; }
__device__ Op ops[2] = {add, larger};

__global__ void kernel(int* out, int which) {
  __shared__ int s[2][64];
  const int t = threadIdx.x;
  s[0][t] = t;
  s[1][t] = 0;
  __syncthreads();
  Op op = ops[which];
  int from = 0;
  for (int d = 32; d > 0; d /= 2) {
    s[from][t] = op(s[from][t], s[from][t ^ d]);  // expect: race-shared
    __syncthreads();
  }
  out[t] = s[from][t];
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out, 1);
  return ended();
}
