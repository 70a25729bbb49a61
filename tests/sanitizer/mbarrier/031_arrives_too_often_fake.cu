// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 31
// covers: D3
// An arrival counts for two where two are pending.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 2);
  MBAR_ARRIVE_N(&bar, 2);
  MBAR_WAIT(&bar, 0);
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return judge(out, 1, [](int) { return 1; });
}
