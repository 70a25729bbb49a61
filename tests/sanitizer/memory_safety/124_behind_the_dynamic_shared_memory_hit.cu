// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 124
// The launch asks for 128 bytes of shared memory, the kernel writes the 33rd word.
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  extern __shared__ int tile[];
  const int t = threadIdx.x;
  if (t < n) tile[t] = t;  // expect: bounds-shared
  __syncthreads();
  if (t < 32) out[t] = tile[31 - t];
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 64, 128>>>(out, 33);
  return ended();
}
