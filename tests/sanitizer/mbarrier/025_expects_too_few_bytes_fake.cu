// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 25
// covers: D3
// The bytes are expected in two portions before the one arrival.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_EXPECT(&bar, 128);
  MBAR_ARRIVE_EXPECT(&bar, 128);
  for (int i = 0; i < 64; i += 32) BULK_LOAD(tile + i, in + i, 128, &bar);
  MBAR_WAIT(&bar, 0);
  out[0] = tile[0] + tile[63];
}

int main() {
  int *in = iota(64), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return judge(out, 1, [](int) { return 63; });
}
