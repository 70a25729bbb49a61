// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 34
// One of two participants leaves; the phases behind need the other alone.
#include "../twin.h"

#define MBAR_DROP(bar) asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(SMEM(bar)) : "memory")

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 2);
  MBAR_ARRIVE(&bar);
  MBAR_DROP(&bar);
  MBAR_WAIT(&bar, 0);
  MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 1);
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return judge(out, 1, [](int) { return 1; });
}
