// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 59
// A tile is fetched ahead that nobody reads; one thread waits for it before the block ends.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[2][32];
  __shared__ uint64_t full[2];
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full[0], 1);
    MBAR_INIT(&full[1], 1);
    FENCE_MBAR_INIT();
  }
  __syncthreads();
  if (t == 0) {
    for (int k = 0; k < 2; ++k) {
      MBAR_ARRIVE_EXPECT(&full[k], 128);
      BULK_LOAD(tile[k], in + 32 * k, 128, &full[k]);
    }
  }
  MBAR_WAIT(&full[0], 0);
  out[t] = tile[0][31 - t];
  if (t == 0) MBAR_WAIT(&full[1], 0);
}

int main() {
  int *in = iota(64), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return 31 - i; });
}
