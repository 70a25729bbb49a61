// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 89
// Who happens to be active is taken for who is meant (a warning).
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  const int t = threadIdx.x;
  if (t < n) {
    const unsigned mask = __activemask();  // expect: active-mask A
    const int first = __shfl_sync(mask, t + 7, 0);  // expect: active-mask B
    out[t] = first;
  }
}

int main() {
  int* out = zeros(20);
  kernel<<<1, 32>>>(out, 20);
  return ended();
}
