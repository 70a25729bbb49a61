// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 9
// The copying warp waits before the barrier, then ends.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x % 32;
  if (threadIdx.x >= 32) {
    CP_ASYNC(&tile[t], in + t, 4);
    CP_COMMIT();
    CP_WAIT(0);
  }
  __syncthreads();
  if (threadIdx.x >= 32) return;
  out[t] = tile[t];
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 64>>>(in, out);
  return judge(out, 32, [](int i) { return i; });
}
