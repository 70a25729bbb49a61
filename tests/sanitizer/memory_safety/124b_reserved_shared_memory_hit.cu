// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 124
// The first 1 KB of shared memory belongs to the system; the kernel reads the last word of it.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = 7;
  __syncthreads();
  const uint32_t address = 1020;
  int value;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");  // expect: bounds-shared
  out[threadIdx.x] = value + tile[0];
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return ended();
}
