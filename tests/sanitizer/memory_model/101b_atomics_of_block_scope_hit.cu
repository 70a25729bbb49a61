// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 101
// Blocks count in one word with atomics of block scope.
#include "../twin.h"

__global__ void kernel(int* count) {
  atomicAdd_block(count, 1);  // expect: race-scope A, race-scope B
}

int main() {
  int* count = zeros(2);
  kernel<<<2, 64>>>(count);
  return ended();
}
