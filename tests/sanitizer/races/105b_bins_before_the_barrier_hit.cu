// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 105
// may: uninitialised
// A block's bins are zeroed by its threads and counted into without a barrier.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  __shared__ unsigned bins[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;  // expect: race-atomic A
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[in[i] % 64], 1);  // expect: race-atomic B
  __syncthreads();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&out[i], int(bins[i]));
}

int main() {
  int *in = device<int>(1024, [](int i) { return 7 * i + 40; }), *out = zeros(64);
  kernel<<<2, 64>>>(in, out, 1024);
  return ended();
}
