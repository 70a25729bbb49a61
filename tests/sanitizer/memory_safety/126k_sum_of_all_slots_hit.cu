// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126, 127
// may: uninitialised-load
// The first warp sums a slot of each of 32 warps by shuffles, where the block has four.
#include "../twin.h"

__device__ int warp_sum(int v) {
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

__global__ void kernel(const int* in, int* sum, int* stored) {
  __shared__ int part[32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int v = warp_sum(in[t]);
  if (lane == 0) part[warp] = v;
  __syncthreads();
  if (warp == 0) {
    const int all = warp_sum(part[lane]);  // expect: uninitialised B, uninitialised D
    if (lane == 0) atomicAdd(sum, all);    // expect: uninitialised A
    if (lane == 1) *stored = all;          // expect: uninitialised C
  }
}

int main() {
  int *sum = zeros(1), *stored = zeros(1);
  kernel<<<1, 128>>>(iota(128), sum, stored);
  return ended();
}
