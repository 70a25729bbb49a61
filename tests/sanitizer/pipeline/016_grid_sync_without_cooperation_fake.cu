// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 16
// The kernel asks is_valid() first and does without.

#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(int* out) {
  auto grid = cg::this_grid();
  if (grid.is_valid()) grid.sync();
  out[grid.thread_rank()] = 1;
}

int main() {
  int* out = zeros(64);
  kernel<<<2, 32>>>(out);
  return judge(out, 64, [](int) { return 1; });
}
