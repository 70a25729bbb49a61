// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 82, 83
// may: barrier-exit
// A producer warp returns behind its barrier, and the others have another one: who has exited has arrived.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t >= 64) {
    s[t - 64] = in[t - 64], s[t - 32] = in[t - 32];
    __syncthreads();
    return;
  }
  __syncthreads();
  const int v = s[t ^ 33];
  __syncthreads();
  s[t] = v;
  __syncthreads();
  out[t] = s[t ^ 32];
}

int main() {
  int *in = iota(64), *out = zeros(64);
  kernel<<<1, 96>>>(in, out);
  return judge(out, 64, [](int i) { return i ^ 1; });
}
