// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 58
// Lane 0 issues, commits and waits, lane 1 goes on after a __syncwarp.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  FENCE_ASYNC();
  __syncwarp();
  if (t == 0) BULK_STORE(out, tile, 128);
  __syncwarp();
  if (t == 0) {
    BULK_COMMIT();
    BULK_WAIT_READ(0);
  }
  __syncwarp();
  if (t == 1) tile[0] = -1;
  __syncwarp();
  if (t == 0) {
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return judge(out, 32, [](int i) { return i; });
}
