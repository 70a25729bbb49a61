// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// All look at a flag, then a barrier, then thread 0 sets it for the next turn.
#include "../twin.h"

__global__ void kernel(int* out, int turns) {
  __shared__ bool done;
  if (threadIdx.x == 0) done = false;
  __syncthreads();
  int count = 0;
  while (!done) {
    __syncthreads();
    ++count;
    if (threadIdx.x == 0 && count == turns) done = true;
    __syncthreads();
  }
  out[threadIdx.x] = count;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out, 3);
  return judge(out, 64, [](int) { return 3; });
}
