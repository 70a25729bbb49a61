// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 87
// The broadcast of a lane that has returned is stored.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  const int last = __shfl_sync(0xffffffff, in[i], n - 1);
  out[i] = last;
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out, 20);
  return judge(out, 32, [](int i) { return i < 20 ? 19 : 0; });
}
