// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 124
// The kernel writes 32 words.
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  extern __shared__ int tile[];
  const int t = threadIdx.x;
  if (t < n) tile[t] = t;
  __syncthreads();
  if (t < 32) out[t] = tile[31 - t];
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 64, 128>>>(out, 32);
  return judge(out, 32, [](int i) { return 31 - i; });
}
