// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 104
// One thread takes a relaxed ticket; behind the barrier each reader has a fence of its own.
#include "../twin.h"

constexpr int kBlocks = 8, kThreads = 64;

__global__ void kernel(int* parts, int* ticket, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    last = atomicAdd(ticket, 1) == kBlocks - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  int part = threadIdx.x < kBlocks ? parts[threadIdx.x] : 0;
  part = __reduce_add_sync(0xffffffffu, part);
  if (threadIdx.x == 0) *out = part;
}

int main() {
  int *parts = zeros(kBlocks), *ticket = zeros(1), *out = zeros(1);
  kernel<<<kBlocks, kThreads>>>(parts, ticket, out);
  return judge(out, 1, [](int) { return kBlocks * (kBlocks + 1) / 2; });
}
