// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 125
// A row address of ldmatrix is a multiple of 8 only.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(16) short tile[16 * 8];
  const int t = threadIdx.x;
  for (int i = t; i < 128; i += 32) tile[i] = i;
  __syncwarp();
  const uint32_t row = SMEM(tile) + t % 8 * 24;
  int value;
  // expect: misaligned
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(value) : "r"(row) : "memory");
  out[t] = value & 0xffff;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return ended();
}
