// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 86
// Half of the warp names itself, the other half names all.
#include "../twin.h"
__global__ void kernel(const int* in, int* out) {
  const int t = threadIdx.x;
  const unsigned mask = t < 16 ? 0x0000ffffu : 0xffffffffu;
  out[t] = __shfl_xor_sync(mask, in[t], 1);  // expect: warp-mask
}
int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
