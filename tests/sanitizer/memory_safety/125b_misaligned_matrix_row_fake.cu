// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 125
// Rows lie 24 bytes apart in pairs: each is a multiple of 16, in no order.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(16) short tile[16 * 8];
  const int t = threadIdx.x;
  for (int i = t; i < 128; i += 32) tile[i] = i;
  __syncwarp();
  const uint32_t row = SMEM(tile) + (7 - t % 8) * 32;
  int value;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(value) : "r"(row) : "memory");
  out[t] = value & 0xffff;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return judge(out, 32, [](int i) { return (7 - i / 4) * 16 + i % 4 * 2; });
}
