// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 126
// A buffer is zeroed by its number of bytes.
#include "../twin.h"

__global__ void kernel(const int* seen, int* out) {
  if (seen[threadIdx.x] == 0) atomicAdd(out, 1);
}

int main() {
  int *seen = nullptr, *out = zeros(1);
  cudaMalloc(&seen, 64 * sizeof(int));
  cudaMemset(seen, 0, 64 * sizeof(int));
  kernel<<<1, 64>>>(seen, out);
  return judge(out, 1, [](int) { return 64; });
}
