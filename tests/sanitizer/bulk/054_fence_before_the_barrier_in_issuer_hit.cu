// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 54
// covers: A5, A4
// Only the issuer executes the fence, and before the barrier, when it does not know of the others' writes.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[32];
  const int t = threadIdx.x;
  if (t > 0) tile[t] = t;  // expect: proxy-async A
  if (t == 0) {
    tile[0] = 0;
    FENCE_ASYNC();
  }
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
