// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 85
// Lanes beyond n return first; the mask names them, and all values come from lanes that stay.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  int v = in[t];
  for (int d = 8; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  out[t] = v;
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out, 16);
  return judge(out, 32, [](int i) { return i < 16 ? 120 : 0; });
}
