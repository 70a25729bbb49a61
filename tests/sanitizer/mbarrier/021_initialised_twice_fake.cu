// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 21
// It is invalidated first.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 0);
  MBAR_INVAL(&bar);
  MBAR_INIT(&bar, 1);
  MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 0);
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return judge(out, 1, [](int) { return 1; });
}
