// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// A buffer is zeroed by its number of elements instead of its bytes, and what is behind decides.
#include "../twin.h"

__global__ void kernel(const int* seen, int* out) {
  if (seen[threadIdx.x] == 0) atomicAdd(out, 1);  // expect: uninitialised
}

int main() {
  int *seen = nullptr, *out = zeros(1);
  cudaMalloc(&seen, 64 * sizeof(int));
  cudaMemset(seen, 0, 64);
  kernel<<<1, 64>>>(seen, out);
  return ended();
}
