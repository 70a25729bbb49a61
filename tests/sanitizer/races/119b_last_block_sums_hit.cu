// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119
// The last block of all to count sums what the others wrote; they do not fence between writing and counting.
#include "../twin.h"

__global__ void kernel(int* parts, unsigned* done, int* out) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = blockIdx.x;  // expect: race-global A
  const bool last = atomicAdd(done, 1) == gridDim.x - 1;
  if (!last) return;
  int sum = 0;
  for (int i = 0; i < gridDim.x; ++i) sum += parts[i];  // expect: race-global B
  *out = sum;
}

int main() {
  int *parts = zeros(8), *out = zeros(1);
  unsigned* done = device<unsigned>(1, [](int) { return 0; });
  kernel<<<8, 32>>>(parts, done, out);
  return ended();
}
