// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 35
// test_wait is asked, its answer (no: lane 0 has yet to arrive) is ignored.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  __shared__ int data;
  const int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 33);
  __syncthreads();
  if (t >= 32) {
    if (t == 32) data = 4 + gridDim.x;  // expect: race-shared A
    __syncwarp();
    MBAR_ARRIVE(&bar);
  } else if (t == 0) {
    int done = 0;
    MBAR_TEST(done, &bar, 0);  // expect: mbarrier-result
    out[0] = data;  // expect: race-shared B
    MBAR_ARRIVE(&bar);
  }
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 64>>>(out);
  return ended();
}
