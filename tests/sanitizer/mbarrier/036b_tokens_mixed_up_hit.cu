// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 36
// hangs
// may: race-shared, mbarrier-phase, mbarrier-count, deadlock
// The tokens of two cuda::barriers are mixed up.
#include <cuda/barrier>
#include "../twin.h"
using bar_t = cuda::barrier<cuda::thread_scope_block>;
__global__ void kernel(int* out) {
  __shared__ bar_t x, y;
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t == 0) init(&x, 64), init(&y, 64);
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    s[t] = t + i;
    auto tx = x.arrive();
    auto ty = y.arrive();
    x.wait(std::move(ty));  // expect: mbarrier-phase
    y.wait(std::move(tx));  // expect: mbarrier-phase
    out[t] = s[t ^ 32];
    x.arrive_and_wait();
  }
}
int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
