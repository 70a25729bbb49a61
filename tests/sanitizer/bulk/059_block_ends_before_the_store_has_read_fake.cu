// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 59
// It waits for the read, not for the write.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  FENCE_ASYNC();
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, tile, 128);
    BULK_COMMIT();
    BULK_WAIT_READ(0);
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return judge(out, 32, [](int i) { return i; });
}
