// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 16, 15
// Blocks without work meet the others, too.
#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(int* data, int n) {
  const auto grid = cg::this_grid();
  const int i = grid.thread_rank();
  if (i < n) data[i] = i;
  grid.sync();
  if (i < n) data[n + i] = data[n - 1 - i];
}

int main() {
  int *data = zeros(256), n = 128;
  void* arguments[] = {&data, &n};
  must(cudaLaunchCooperativeKernel((void*)kernel, 4, 64, arguments), "launch");
  return judge(data + 128, 128, [](int i) { return 127 - i; });
}
