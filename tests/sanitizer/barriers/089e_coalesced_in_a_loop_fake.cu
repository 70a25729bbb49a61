// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 89
// Lanes that leave a loop at different turns count by groups of those who are there.
#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__device__ int next(int* counter) {
  const auto g = cg::coalesced_threads();
  int base = 0;
  if (g.thread_rank() == 0) base = atomicAdd(counter, int(g.size()));
  return g.shfl(base, 0) + g.thread_rank();
}

__global__ void kernel(int* counter, int* out) {
  for (int k = 0; k < int(threadIdx.x % 7) + 1; ++k) {
    if ((threadIdx.x + k) % 3 == 0) out[next(counter)] = 1;
  }
}

int main() {
  int *counter = zeros(1), *out = zeros(512);
  kernel<<<2, 64>>>(counter, out);
  int n = 0;
  for (int b = 0; b < 2; ++b)
    for (int t = 0; t < 64; ++t)
      for (int k = 0; k <= t % 7; ++k) n += (t + k) % 3 == 0;
  return judge(out, 512, [&](int i) { return i < n; });
}
