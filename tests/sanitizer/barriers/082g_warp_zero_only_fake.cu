// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 82, 118
// Warp 0 fills a table in its branch; all wait behind it.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int table[32];
  const int t = threadIdx.x;
  if (t < 32) {
    table[t] = 3 * t;
  }
  __syncthreads();
  out[t] = table[t % 32];
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return judge(out, 64, [](int i) { return 3 * (i % 32); });
}
