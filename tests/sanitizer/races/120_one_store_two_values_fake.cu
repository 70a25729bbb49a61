// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 120
// One lane of each pair writes.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[16];
  const int t = threadIdx.x;
  if (t % 2) tile[t / 2] = t;
  __syncthreads();
  if (t < 16) out[t] = tile[t];
}

int main() {
  int* out = zeros(16);
  kernel<<<1, 32>>>(out);
  return judge(out, 16, [](int i) { return 2 * i + 1; });
}
