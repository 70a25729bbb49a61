// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 8, 122
// A copy at the end of an array reads what is there and fills the rest with zeros.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  __shared__ alignas(16) int tile[128];
  const int i = 4 * threadIdx.x;
  const int there = max(0, min(16, 4 * (n - i)));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(SMEM(&tile[i])), "l"(in + i), "r"(there)
               : "memory");
  CP_WAIT_ALL();
  __syncthreads();
  for (int k = 0; k < 4; ++k) out[k * 32 + threadIdx.x] = tile[k * 32 + threadIdx.x];
}

int main() {
  int *in = iota(101), *out = zeros(128);
  kernel<<<1, 32>>>(in, out, 101);
  return judge(out, 128, [](int i) { return i < 101 ? i : 0; });
}
