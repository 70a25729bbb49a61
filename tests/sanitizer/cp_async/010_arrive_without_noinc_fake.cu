// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 10
// covers: errata arrive_on
// The same, and each thread arrives itself, too, as __pipeline_arrive_on is documented.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[32];
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 32);
  __syncwarp();
  CP_ASYNC(&tile[t], in + t, 4);
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(SMEM(&bar)) : "memory");
  MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 0);
  out[t] = tile[t ^ 1];
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return i ^ 1; });
}
