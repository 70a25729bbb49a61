// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 83
// They end behind the last barrier.
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  if (t >= n) return;
  out[t] = tile[n - 1 - t];
}

int main() {
  int* out = zeros(40);
  kernel<<<1, 64>>>(out, 40);
  return judge(out, 40, [](int i) { return 39 - i; });
}
