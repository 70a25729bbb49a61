// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 87
// may: warp-source
// Half a warp takes the value of lane 31, which went past the branch and on to the store.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  const int t = threadIdx.x;
  int v = in[t];
  if (t < 16) v = __shfl_sync(~0u, v, 31);  // expect: warp-mask
  out[t] = v;
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
