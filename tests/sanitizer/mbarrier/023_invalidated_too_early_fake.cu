// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 23
// It is invalidated after the wait.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 128);
  BULK_LOAD(tile, in, 128, &bar);
  MBAR_WAIT(&bar, 0);
  out[0] = tile[31];
  MBAR_INVAL(&bar);
}

int main() {
  int *in = iota(32), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return judge(out, 1, [](int) { return 31; });
}
