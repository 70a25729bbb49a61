// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 126
// may: uninitialised-load
// Each half of a warp sums its own; the sum of the half that was not written is stored where nobody looks. The same
// loads read another array next, which is written.
#include "../twin.h"

__global__ void kernel(const int* in, const int* other, int* sums, int* sum) {
  for (int k = 0; k < 2; k++) {
    int v = (k ? other : in)[threadIdx.x];
    for (int d = 8; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    sums[32 * k + threadIdx.x] = v;
    if (threadIdx.x == 0 || (k && threadIdx.x == 16)) atomicAdd(sum, v);
  }
}

int main() {
  int *in, *sums, *sum = zeros(1), from[16];
  for (int i = 0; i < 16; i++) from[i] = i;
  must(cudaMalloc(&in, 128), "cudaMalloc");
  must(cudaMalloc(&sums, 256), "cudaMalloc");
  must(cudaMemcpy(in, from, 64, cudaMemcpyHostToDevice), "cudaMemcpy");
  kernel<<<1, 32>>>(in, iota(32), sums, sum);
  return judge(sum, 1, [](int) { return 120 + 31 * 16; });
}
