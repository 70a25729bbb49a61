// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 36
// Each barrier gets its own, in another order.
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
    y.wait(std::move(ty));
    x.wait(std::move(tx));
    out[t] = s[t ^ 32];
    x.arrive_and_wait();
  }
}
int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return judge(out, 64, [](int i) { return (i ^ 32) + 1; });
}
