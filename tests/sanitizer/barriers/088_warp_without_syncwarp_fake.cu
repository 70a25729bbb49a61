// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 88
// With __syncwarp.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncwarp();
  if (t < 16) out[t] = tile[t] + tile[t + 16];
}

int main() {
  int* out = zeros(16);
  kernel<<<1, 32>>>(out);
  return judge(out, 16, [](int i) { return 2 * i + 16; });
}
