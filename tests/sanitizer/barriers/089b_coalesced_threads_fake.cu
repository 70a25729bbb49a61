// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 89
// coalesced_threads() is made of the active lanes, whoever they are: that is what it is for.

#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(int* out) {
  if (threadIdx.x % 3 == 0) {
    auto active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(out, active.size());
    active.sync();
  }
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 32>>>(out);
  return judge(out, 1, [](int) { return 11; });
}
