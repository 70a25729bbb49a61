// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// Memory is written by a copy behind the kernel that reads it; the host is through with both calls before either runs.
#include "../twin.h"

__global__ void hold(int* out) {
  for (int i = 0; i < 2000; ++i) out[threadIdx.x] += 1;
}

__global__ void kernel(const int* state, int* out) {
  if (state[threadIdx.x] == 3)  // expect: uninitialised
    out[threadIdx.x] = 1;
}

int main() {
  int *out = zeros(32), *next = iota(32), *state = nullptr;
  must(cudaMalloc(&state, 32 * sizeof(int)), "cudaMalloc");
  hold<<<1, 32>>>(out);
  kernel<<<1, 32>>>(state, out);
  must(cudaMemcpyAsync(state, next, 32 * sizeof(int), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
  return ended();
}
