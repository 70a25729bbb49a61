// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// With __syncthreads.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[t] = tile[63 - t];
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return judge(out, 64, [](int i) { return 63 - i; });
}
