// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 52
// covers: A2, A3, C6
// A bulk copy reads shared memory that threads wrote, without fence.proxy.async.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;  // expect: proxy-async A
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, tile, 128);  // expect: proxy-async B
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return ended();
}
