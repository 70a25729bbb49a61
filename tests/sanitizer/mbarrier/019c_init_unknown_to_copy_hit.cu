// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 19
// A bulk copy completes at a barrier whose initialisation was published to threads only (a note).
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 1);  // expect: mbarrier-init-fence A
  __syncthreads();
  if (t == 0) {
    MBAR_ARRIVE_EXPECT(&bar, 128);
    BULK_LOAD(tile, in, 128, &bar);  // expect: mbarrier-init-fence B
  }
  MBAR_WAIT(&bar, 0);
  out[t] = tile[t];
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
