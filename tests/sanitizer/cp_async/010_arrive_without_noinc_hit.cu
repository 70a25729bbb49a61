// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 10
// hangs
// covers: errata arrive_on
// cp.async.mbarrier.arrive without .noinc adds one to the pending count and takes it away again: nobody ever arrives.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[32];
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 32);
  __syncwarp();
  CP_ASYNC(&tile[t], in + t, 4);
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(SMEM(&bar)) : "memory");
  MBAR_WAIT(&bar, 0);  // expect: deadlock
  out[t] = tile[t ^ 1];
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
