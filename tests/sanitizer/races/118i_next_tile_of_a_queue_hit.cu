// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 118
// A persistent block draws the next tile into shared memory while warps may still read the last.
#include "../twin.h"

__global__ void kernel(int* queue, int* out, int tiles) {
  __shared__ int next;
  for (;;) {
    if (threadIdx.x == 0) next = atomicAdd(queue, 1);  // expect: race-shared A
    __syncthreads();
    const int tile = next;  // expect: race-shared B
    if (tile >= tiles) break;
    out[tile * 64 + threadIdx.x] = tile;
  }
}

int main() {
  int *queue = zeros(1), *out = zeros(64 * 16);
  kernel<<<3, 64>>>(queue, out, 16);
  return ended();
}
