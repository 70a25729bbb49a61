// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 131
// options: --explore 2
// An integer sum does not.
#include "../twin.h"

using Number = int;

__global__ void kernel(Number* sum) {
  const Number part = blockIdx.x % 2 ? Number(1) : blockIdx.x == 0 ? Number(1e8) : Number(-1e8);
  atomicAdd(sum, part);
}

int main() {
  Number* sum = device<Number>(1, [](int) { return 0; });
  kernel<<<4, 1>>>(sum);
  return judge(sum, 1, [](int) { return 2; });
}
