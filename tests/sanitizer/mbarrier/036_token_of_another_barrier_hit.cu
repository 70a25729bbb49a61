// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 36
// The token of one barrier is tested at another.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar, other;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 32);
    MBAR_INIT(&other, 32);
  }
  __syncwarp();
  uint64_t token;
  int done = 0;
  MBAR_TOKEN(token, &bar);
  MBAR_ARRIVE(&other);
  MBAR_TEST_TOKEN(done, &other, token);  // expect: mbarrier-phase
  out[t] = done;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return ended();
}
