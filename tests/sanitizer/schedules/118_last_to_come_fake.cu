// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// options: --explore 64
// The warp that draws the last ticket adds up what the others wrote. Each acquires what it reads.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int part[4], tickets;
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) tickets = 0;
  __syncthreads();
  if (threadIdx.x % 32) return;
  part[warp] = warp;
  __threadfence_block();
  if (atomicAdd_block(&tickets, 1) < 3) return;
  __threadfence_block();
  *out = part[warp ^ 3] >= 0;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 128>>>(out);
  return judge(out, 1, [](int) { return 1; });
}
