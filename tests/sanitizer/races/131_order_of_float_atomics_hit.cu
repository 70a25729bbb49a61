// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 131
// options: --explore 2
// A float sum by atomics depends on the order of the blocks (seen with --explore).
#include "../twin.h"

using Number = float;

__global__ void kernel(Number* sum) {
  const Number part = blockIdx.x % 2 ? Number(1) : blockIdx.x == 0 ? Number(1e8) : Number(-1e8);
  atomicAdd(sum, part);  // expect: float-order
}

int main() {
  Number* sum = device<Number>(1, [](int) { return 0; });
  kernel<<<4, 1>>>(sum);
  return ended();
}
