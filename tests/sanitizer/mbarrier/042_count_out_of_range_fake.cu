// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 42
// A barrier for 2^20 - 1 arrivals, and one arrival for all of them.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  const uint32_t count = (1u << 20) - 1;
  MBAR_INIT(&bar, count);
  MBAR_ARRIVE_N(&bar, count);
  MBAR_WAIT(&bar, 0);
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return judge(out, 1, [](int) { return 1; });
}
