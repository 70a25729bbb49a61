// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 31
// A ring: the whole producer warp arrives at `full`, which takes one arrival a turn.
// hangs
// may: deadlock, race-shared, mbarrier-phase
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t full, empty;
  __shared__ int slot[32];
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 1);  // expect: mbarrier-count B
    MBAR_INIT(&empty, 32);
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    if (t < 32) {
      MBAR_WAIT(&empty, i & 1 ^ 1);
      slot[t] = i;
      MBAR_ARRIVE(&full);  // expect: mbarrier-count A
    } else {
      MBAR_WAIT(&full, i & 1);
      out[i * 32 + t - 32] = slot[t - 32];
      MBAR_ARRIVE(&empty);
    }
  }
}

int main() {
  int* out = zeros(128);
  kernel<<<1, 64>>>(out);
  return ended();
}
