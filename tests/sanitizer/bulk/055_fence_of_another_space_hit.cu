// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 55
// The fence is for global memory, the writes went to shared memory.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;  // expect: proxy-async A
  asm volatile("fence.proxy.async.global;" ::: "memory");
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
