// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 86
// Two halves that name themselves.
#include "../twin.h"
__global__ void kernel(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  const unsigned mask = t < 16 ? 0x0000ffffu : 0xffff0000u;
  WARP_SYNC(mask);
  out[t] = s[t ^ 1];
}
int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return judge(out, 32, [](int i) { return i ^ 1; });
}
