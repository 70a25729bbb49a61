// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 104
// One thread takes a relaxed ticket; its block reads what others wrote, without any fence behind it.
#include "../twin.h"

constexpr int kBlocks = 8, kThreads = 64;

__global__ void kernel(int* parts, int* ticket, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1;  // expect: race-global A
    __threadfence();
    last = atomicAdd(ticket, 1) == kBlocks - 1;
  }
  __syncthreads();
  if (!last) return;
  int part = threadIdx.x < kBlocks ? parts[threadIdx.x] : 0;  // expect: race-global B
  part = __reduce_add_sync(0xffffffffu, part);
  if (threadIdx.x == 0) *out = part;
}

int main() {
  int *parts = zeros(kBlocks), *ticket = zeros(1), *out = zeros(1);
  kernel<<<kBlocks, kThreads>>>(parts, ticket, out);
  return ended();
}
