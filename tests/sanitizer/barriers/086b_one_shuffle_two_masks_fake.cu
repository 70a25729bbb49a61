// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 86
// Each half names itself.
#include "../twin.h"
__global__ void kernel(const int* in, int* out) {
  const int t = threadIdx.x;
  const unsigned mask = t < 16 ? 0x0000ffffu : 0xffff0000u;
  out[t] = __shfl_xor_sync(mask, in[t], 1);
}
int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return i ^ 1; });
}
