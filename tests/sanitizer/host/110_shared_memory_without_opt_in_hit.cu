// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 110
// A launch with 64 KB of dynamic shared memory that the kernel was not allowed.
#include "../twin.h"

__global__ void kernel(int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32, 64 * 1024>>>(out);  // expect: api-error
  return ended();
}
