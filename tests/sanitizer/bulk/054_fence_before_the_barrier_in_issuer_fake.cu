// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 54
// covers: A5, A4
// Only the issuer executes the fence, but behind the barrier (accepted).
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[32];
  const int t = threadIdx.x;
  if (t > 0) tile[t] = t;
  if (t == 0) {
    tile[0] = 0;
  }
  __syncthreads();
  if (t == 0) {
    FENCE_ASYNC();
    BULK_STORE(out, tile, 128);
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return judge(out, 32, [](int i) { return i; });
}
