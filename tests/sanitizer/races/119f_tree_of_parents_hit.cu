// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119
// The second thread to come at a node reads what the first has left, without a fence between.
#include "../twin.h"

// A tree of 64 leaves: node k's children are 2k and 2k + 1; leaves are 64 to 127.
__global__ void kernel(int* node, int* visits, int* out) {
  const int leaf = 64 + blockIdx.x * blockDim.x + threadIdx.x;
  node[leaf] = 1;  // expect: race-global A
  for (int at = leaf / 2; at >= 1; at /= 2) {
    if (atomicAdd(&visits[at], 1) == 0) return;
    node[at] = node[2 * at] + node[2 * at + 1];  // expect: race-global B, race-global C, race-global D
  }
  *out = node[1];
}

int main() {
  int *node = zeros(128), *visits = zeros(64), *out = zeros(1);
  kernel<<<4, 16>>>(node, visits, out);
  return ended();
}
