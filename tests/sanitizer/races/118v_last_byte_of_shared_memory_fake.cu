// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// A byte at the end of the shared memory is read by all before one thread sets it behind a barrier.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ unsigned char full;
  if (threadIdx.x == 0) full = 0;
  __syncthreads();
  const int seen = full;
  __syncthreads();
  if (threadIdx.x == 40) full = 1 + out[0];
  __syncthreads();
  out[threadIdx.x] = seen + full;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return judge(out, 64, [](int) { return 1; });
}
