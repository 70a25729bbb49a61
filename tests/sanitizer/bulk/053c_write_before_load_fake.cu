// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 53
// Another part of the array is set to zero.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    FENCE_MBAR_INIT();
  }
  tile[t + 32] = 0;
  __syncthreads();
  if (t == 0) {
    MBAR_ARRIVE_EXPECT(&bar, 128);
    BULK_LOAD(tile, in, 128, &bar);
  }
  MBAR_WAIT(&bar, 0);
  out[t] = tile[t];
  out[t] += tile[t + 32];
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return i; });
}
