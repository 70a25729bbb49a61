// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 2
// The same two lines the other way round.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  CP_ASYNC(&tile[t], in + t, 4);
  CP_COMMIT();
  CP_WAIT(0);
  __syncthreads();
  out[t] = tile[t ^ 32];
}

int main() {
  int *in = iota(64), *out = zeros(64);
  kernel<<<1, 64>>>(in, out);
  return judge(out, 64, [](int i) { return i ^ 32; });
}
