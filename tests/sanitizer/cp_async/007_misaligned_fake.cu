// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 7
// A copy of 8 bytes goes to that address.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(16) int tile[8];
  CP_ASYNC(&tile[2], in, 8);
  CP_COMMIT();
  CP_WAIT(0);
  out[0] = tile[3];
}

int main() {
  int *in = iota(8), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return judge(out, 1, [](int) { return 1; });
}
