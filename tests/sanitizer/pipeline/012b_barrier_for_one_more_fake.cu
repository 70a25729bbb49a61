// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 31
// A cuda::barrier for all threads and one arrival more, which thread 0 makes.
#include <cuda/barrier>

#include "../twin.h"

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void kernel(int* out) {
  __shared__ Barrier bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x + 1);
  __syncthreads();
  if (threadIdx.x == 0) (void)bar.arrive();
  bar.arrive_and_wait();
  out[threadIdx.x] = 1;
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return judge(out, 64, [](int) { return 1; });
}
