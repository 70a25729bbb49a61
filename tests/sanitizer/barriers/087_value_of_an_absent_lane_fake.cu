// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 87
// Some lanes take a value from a lane that is not there, and do not use it.
#include "../twin.h"

__global__ void kernel(int* out) {
  const int t = threadIdx.x;
  if (t < 16) {
    const int value = __shfl_down_sync(0xffff, t, 8);
    atomicAdd(out, t < 8 ? value : 0);
  }
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 32>>>(out);
  return judge(out, 1, [](int) { return 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15; });
}
