// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 2
// covers: A9
// After the wait a __syncwarp tells the others; the neighbour is of the same warp.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  CP_ASYNC(&tile[t], in + t, 4);
  CP_COMMIT();
  CP_WAIT(0);
  __syncwarp();
  out[t] = tile[t ^ 1];
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return i ^ 1; });
}
