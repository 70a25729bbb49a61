// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 9
// The copying warp ends without waiting; the barrier before its end does not complete the copies.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x % 32;
  if (threadIdx.x >= 32) {
    CP_ASYNC(&tile[t], in + t, 4);  // expect: async-group A
    CP_COMMIT();
  }
  __syncthreads();
  if (threadIdx.x >= 32) return;
  out[t] = tile[t];  // expect: async-group B
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 64>>>(in, out);
  return ended();
}
