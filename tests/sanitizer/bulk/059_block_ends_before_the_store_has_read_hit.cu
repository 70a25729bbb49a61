// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 59
// The block ends while a bulk store may still read its shared memory.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  FENCE_ASYNC();
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, tile, 128);  // expect: async-exit
    BULK_COMMIT();
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  ended();
  return judge(out, 32, [](int i) { return i; }) && false;  // told, not judged: whether it landed
}
