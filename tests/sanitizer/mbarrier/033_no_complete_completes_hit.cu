// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 33
// An arrival that promises not to complete the phase completes it.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  uint64_t token;
  MBAR_INIT(&bar, 1);
  // expect: mbarrier-count
  asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 1;" : "=l"(token) : "r"(SMEM(&bar)) : "memory");
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return ended();
}
