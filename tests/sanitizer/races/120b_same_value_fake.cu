// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 120
// All threads add the same value to one word.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  atomicAdd(&found, 7);
  __syncthreads();
  out[threadIdx.x] = found;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return judge(out, 64, [](int) { return 7 * 64; });
}
