// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 34
// The last participant leaves twice.
#include "../twin.h"

#define MBAR_DROP(bar) asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(SMEM(bar)) : "memory")

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  MBAR_DROP(&bar);
  MBAR_WAIT(&bar, 0);
  MBAR_DROP(&bar);  // expect: mbarrier-count
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return ended();
}
