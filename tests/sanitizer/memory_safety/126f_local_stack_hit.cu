// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// A thread takes one element more from its local array than it has put there.
#include "../twin.h"
__global__ void kernel(const int* in, int* out, int n) {
  int stack[16];
  int top = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) if (in[i] & 1) stack[top++] = in[i];
  top++;
#pragma unroll 1
  while (top > 0) out[stack[--top] & 7] = 1;  // expect: uninitialised
}
int main() {
  int *in = iota(8), *out = zeros(8);
  kernel<<<1, 1>>>(in, out, 8);
  return ended();
}
