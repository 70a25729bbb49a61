// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 35
// test_wait is asked until it says yes.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  __shared__ int data;
  const int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 33);
  __syncthreads();
  if (t >= 32) {
    if (t == 32) data = 4 + gridDim.x;
    __syncwarp();
    MBAR_ARRIVE(&bar);
  } else if (t == 0) {
    int done = 0;
    MBAR_ARRIVE(&bar);
    while (!done) MBAR_TEST(done, &bar, 0);
    out[0] = data;
  }
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 64>>>(out);
  return judge(out, 1, [](int) { return 5; });
}
