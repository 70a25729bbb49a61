// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// A __syncthreads before the next use.
#include "../twin.h"

__device__ int sum(int value) {
  __shared__ int scratch[2];
  const int t = threadIdx.x;
  value = __reduce_add_sync(~0u, value);
  if (t % 32 == 0) scratch[t / 32] = value;
  __syncthreads();
  return scratch[0] + scratch[1];
}

__global__ void kernel(int* out) {
  const int first = sum(1);
  __syncthreads();
  const int second = sum(2);
  out[threadIdx.x] = first + second;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return judge(out, 64, [](int) { return 192; });
}
