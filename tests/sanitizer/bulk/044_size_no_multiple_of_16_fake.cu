// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 44
// A bulk copy of 16 bytes to an address that is a multiple of 16 only.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  const int bytes = 16;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, bytes);
  BULK_LOAD(tile + 4, in + 4, bytes, &bar);
  MBAR_WAIT(&bar, 0);
  out[0] = tile[7];
}

int main() {
  int *in = iota(32), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return judge(out, 1, [](int) { return 7; });
}
