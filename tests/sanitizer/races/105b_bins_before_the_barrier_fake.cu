// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 105
// A block's bins are zeroed by its threads, then counted into behind a barrier.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  __shared__ unsigned bins[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[in[i] % 64], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&out[i], int(bins[i]));
}

int main() {
  int *in = device<int>(1024, [](int i) { return 7 * i + 40; }), *out = zeros(64);
  kernel<<<2, 64>>>(in, out, 1024);
  return judge(out, 64, [](int) { return 32; });
}
