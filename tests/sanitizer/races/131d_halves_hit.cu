// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 131
// Sums of 16 bits round with each addition.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include "../twin.h"
__global__ void kernel(__half* h, __nv_bfloat162* b) {
  if (threadIdx.x) return;
  atomicAdd(h, __float2half(2048.f / (1 + blockIdx.x * 7)));  // expect: float-order
  atomicAdd(b, __floats2bfloat162_rn(1.f, 0.5f));
}
int main() {
  auto* h = (__half*)zeros(1); auto* b = (__nv_bfloat162*)zeros(1);
  kernel<<<12, 32>>>(h, b);
  return ended();
}
