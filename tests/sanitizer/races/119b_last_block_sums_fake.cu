// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 119
// They fence.
#include "../twin.h"

__global__ void kernel(int* parts, unsigned* done, int* out) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = blockIdx.x;
  __threadfence();
  const bool last = atomicAdd(done, 1) == gridDim.x - 1;
  __threadfence();
  if (!last) return;
  int sum = 0;
  for (int i = 0; i < gridDim.x; ++i) sum += parts[i];
  *out = sum;
}

int main() {
  int *parts = zeros(8), *out = zeros(1);
  unsigned* done = device<unsigned>(1, [](int) { return 0; });
  kernel<<<8, 32>>>(parts, done, out);
  return judge(out, 1, [](int) { return 28; });
}
