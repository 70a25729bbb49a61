// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: -
// covers: E2
// The halves copy apart and commit together.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(16) int tile[32 * 4];
  const int t = threadIdx.x;
  if (t < 16) {
    CP_ASYNC(&tile[4 * t], in + 4 * t, 16);
  } else {
    for (int i = 0; i < 4; ++i) CP_ASYNC(&tile[4 * t + i], in + 4 * t + i, 4);
  }
  CP_COMMIT();
  CP_WAIT(0);
  out[t] = tile[4 * t];
}

int main() {
  int *in = iota(128), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return 4 * i; });
}
