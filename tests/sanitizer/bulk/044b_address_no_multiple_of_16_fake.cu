// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 44
// The copy begins 8 bytes earlier and is 16 bytes longer.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  const int skip = 0, bytes = 32;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, bytes);
  BULK_LOAD(tile, in + skip, bytes, &bar);
  MBAR_WAIT(&bar, 0);
  out[0] = tile[2];
}

int main() {
  int *in = iota(32), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return judge(out, 1, [](int) { return 2; });
}
