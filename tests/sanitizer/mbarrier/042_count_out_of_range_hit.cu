// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 42
// A barrier for 2^20 arrivals; a count has 20 bits.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  const uint32_t count = 1u << 20;
  MBAR_INIT(&bar, count);  // expect: mbarrier-count
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return ended();
}
