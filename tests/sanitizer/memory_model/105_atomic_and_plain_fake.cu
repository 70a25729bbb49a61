// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 105
// The counter is read plainly behind the barrier that all counting threads have passed.
#include "../twin.h"

__global__ void kernel(int* count, int* out) {
  __shared__ int local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  atomicAdd(&local, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = local + *count;
}

int main() {
  int *count = zeros(1), *out = zeros(1);
  kernel<<<1, 64>>>(count, out);
  return judge(out, 1, [](int) { return 64; });
}
