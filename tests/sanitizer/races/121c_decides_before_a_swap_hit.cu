// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 121
// A plain load decides whether there is anything to swap at all.
#include "../twin.h"

__global__ void kernel(int* most) {
  int old = *most;  // expect: race-atomic A
  const int mine = blockIdx.x * blockDim.x + threadIdx.x;
  while (old < mine) {
    const int seen = old;
    old = atomicCAS(most, seen, mine);  // expect: race-atomic B
    if (old == seen) break;
  }
}

int main() {
  int* most = zeros(1);
  kernel<<<2, 64>>>(most);
  return ended();
}
