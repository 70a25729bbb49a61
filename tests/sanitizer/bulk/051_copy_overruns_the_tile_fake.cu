// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 51
// A copy is longer than a stage, and both stages are one array.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int stages[2][32];
  __shared__ uint64_t bar;
  int* tile = stages[0];
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 256);
  BULK_LOAD(tile, in, 256, &bar);
  MBAR_WAIT(&bar, 0);
  out[0] = tile[31] + stages[1][31];
}

int main() {
  int *in = iota(64), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return judge(out, 1, [](int) { return 31 + 63; });
}
