// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 87
// Half a warp takes the value of lane 31, which went past the branch and on to the store.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  const int t = threadIdx.x;
  int v = in[t];
  const int all = __shfl_sync(~0u, v, 31);
  if (t < 16) v = all;
  out[t] = v;
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return i < 16 ? 31 : i; });
}
