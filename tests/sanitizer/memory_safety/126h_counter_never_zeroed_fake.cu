// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 126
// Threads count in a variable that one of them set to zero, and only copy the sum away.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = count;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 64>>>(out);
  return judge(out, 1, [](int) { return 64; });
}
