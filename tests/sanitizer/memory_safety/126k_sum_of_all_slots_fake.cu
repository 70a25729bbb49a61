// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 126, 127
// The first warp sums a slot of each of 32 warps by shuffles, the others take none.
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
    const int all = warp_sum(lane < 4 ? part[lane] : 0);
    if (lane == 0) atomicAdd(sum, all);
    if (lane == 1) *stored = all;
  }
}

int main() {
  int *sum = zeros(1), *stored = zeros(1);
  kernel<<<1, 128>>>(iota(128), sum, stored);
  const int want = 127 * 64;
  return judge(sum, 1, [=](int) { return want; });
}
