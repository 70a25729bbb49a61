// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 121
// An atomic decides whether there is anything to swap at all.
#include "../twin.h"

__global__ void kernel(int* most) {
  int old = atomicOr(most, 0);
  const int mine = blockIdx.x * blockDim.x + threadIdx.x;
  while (old < mine) {
    const int seen = old;
    old = atomicCAS(most, seen, mine);
    if (old == seen) break;
  }
}

int main() {
  int* most = zeros(1);
  kernel<<<2, 64>>>(most);
  return judge(most, 1, [](int) { return 127; });
}
