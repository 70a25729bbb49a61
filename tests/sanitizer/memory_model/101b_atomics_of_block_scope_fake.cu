// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 101
// Each block counts with atomics of block scope in a word of its own.
#include "../twin.h"

__global__ void kernel(int* count) {
  atomicAdd_block(count + blockIdx.x, 1);
}

int main() {
  int* count = zeros(2);
  kernel<<<2, 64>>>(count);
  return judge(count, 2, [](int) { return 64; });
}
