// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 33
// It does not: another arrival is pending.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  uint64_t token;
  MBAR_INIT(&bar, 2);
  asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 1;" : "=l"(token) : "r"(SMEM(&bar)) : "memory");
  MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 0);
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return judge(out, 1, [](int) { return 1; });
}
