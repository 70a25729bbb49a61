// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 1
// covers: E5
// No commit_group, but wait_all waits for copies that are in no group, too.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  CP_ASYNC(&tile[t], in + t, 4);
  CP_WAIT_ALL();
  out[t] = tile[t];
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return i; });
}
