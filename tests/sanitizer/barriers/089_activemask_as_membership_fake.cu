// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 89
// A ballot before the branch says who is meant.
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  const int t = threadIdx.x;
  const unsigned mask = __ballot_sync(~0u, t < n);
  if (t < n) {
    const int first = __shfl_sync(mask, t + 7, 0);
    out[t] = first;
  }
}

int main() {
  int* out = zeros(20);
  kernel<<<1, 32>>>(out, 20);
  return judge(out, 20, [](int) { return 7; });
}
