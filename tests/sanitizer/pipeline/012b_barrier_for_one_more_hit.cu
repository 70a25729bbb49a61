// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 31
// A cuda::barrier for one thread more than there are: all wait, inside a header of the toolkit.
// hangs
#include <cuda/barrier>

#include "../twin.h"

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void kernel(int* out) {
  __shared__ Barrier bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x + 1);
  __syncthreads();
  bar.arrive_and_wait();  // expect: deadlock
  out[threadIdx.x] = 1;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
