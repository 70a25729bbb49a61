// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 5
// covers: E5
// What is written while the copy is under way lies directly behind its source.
#include "../twin.h"

__global__ void kernel(int* in, int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  CP_ASYNC(&tile[t], in + 2 * t, 4);
  CP_COMMIT();
  in[2 * t + 1] = -1;
  CP_WAIT(0);
  out[t] = tile[t];
}

int main() {
  int *in = iota(64), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return 2 * i; });
}
