// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 124
// The kernel reads its own first word through the address that the compiler gave it.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = 7;
  __syncthreads();
  const uint32_t address = SMEM(tile);
  int value;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  out[threadIdx.x] = value + tile[0];
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return judge(out, 32, [](int) { return 14; });
}
