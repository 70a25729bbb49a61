// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 28
// hangs
// The producer's first wait for an empty slot is for phase 0, which ends only after the slot was filled.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t full, empty;
  __shared__ int slot;
  if (threadIdx.x == 0) {
    MBAR_INIT(&full, 1);
    MBAR_INIT(&empty, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < 4; ++i) {
      MBAR_WAIT(&empty, i & 1);  // expect: deadlock A
      slot = 10 * i;
      MBAR_ARRIVE(&full);
    }
  } else if (threadIdx.x == 32) {
    for (int i = 0; i < 4; ++i) {
      MBAR_WAIT(&full, i & 1);  // expect: deadlock B
      out[i] = slot;
      MBAR_ARRIVE(&empty);
    }
  }
}

int main() {
  int* out = zeros(4);
  kernel<<<1, 64>>>(out);
  return ended();
}
