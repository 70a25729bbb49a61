// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 87
// A broadcast among 16 lanes by its width takes the value of one of them.
#include "../twin.h"

__global__ void kernel(int* out) {
  const int lane = threadIdx.x;
  if (lane < 16) {
    const int v = __shfl_sync(0xffff, lane, 20, 16);
    out[lane] = v;
  } else {
    out[lane] = lane;
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return judge(out, 32, [](int i) { return i < 16 ? 4 : i; });
}
