// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 104
// covers: C2
// Attempt: legacy atomics and fences. Correct.
#include "../twin.h"

__global__ void kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, flag, out);
  return judge(out, 1, [](int) { return 42; });
}
