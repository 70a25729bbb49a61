// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 58
// Lane 0 issues the store, lane 1 commits and waits; groups belong to a thread, so lane 1 waits for nothing.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  FENCE_ASYNC();
  __syncwarp();
  if (t == 0) BULK_STORE(out, tile, 128);  // expect: async-group A
  __syncwarp();
  if (t == 1) {
    BULK_COMMIT();
    BULK_WAIT_READ(0);
  }
  __syncwarp();
  if (t == 1) tile[0] = -1;  // expect: async-group B
  __syncwarp();
  if (t == 0) {
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return ended();
}
