// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// A persistent block draws the next tile behind a second barrier.
#include "../twin.h"

__global__ void kernel(int* queue, int* out, int tiles) {
  __shared__ int next;
  for (;;) {
    if (threadIdx.x == 0) next = atomicAdd(queue, 1);
    __syncthreads();
    const int tile = next;
    __syncthreads();
    if (tile >= tiles) break;
    out[tile * 64 + threadIdx.x] = tile;
  }
}

int main() {
  int *queue = zeros(1), *out = zeros(64 * 16);
  kernel<<<3, 64>>>(queue, out, 16);
  return judge(out, 64 * 16, [](int i) { return i / 64; });
}
