// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 28
// The producer's first wait is for parity 1: of a new barrier the phase before the first counts as over.
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
      MBAR_WAIT(&empty, (i & 1) ^ 1);
      slot = 10 * i;
      MBAR_ARRIVE(&full);
    }
  } else if (threadIdx.x == 32) {
    for (int i = 0; i < 4; ++i) {
      MBAR_WAIT(&full, i & 1);
      out[i] = slot;
      MBAR_ARRIVE(&empty);
    }
  }
}

int main() {
  int* out = zeros(4);
  kernel<<<1, 64>>>(out);
  return judge(out, 4, [](int i) { return 10 * i; });
}
