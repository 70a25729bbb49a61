// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 75, 69
// Each block reads its neighbour's halo of every turn, with two cluster barriers a turn.
#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4) kernel(int* out, int turns) {
  __shared__ int line[32];
  auto cluster = cg::this_cluster();
  const int t = threadIdx.x, rank = cluster.block_rank();
  const int* next = cluster.map_shared_rank(line, (rank + 1) % 4);
  line[t] = rank * 32 + t;
  for (int k = 0; k < turns; ++k) {
    cluster.sync();
    const int right = t < 31 ? line[t + 1] : next[0];
    cluster.sync();
    line[t] = right;
  }
  cluster.sync();
  out[rank * 32 + t] = line[t];
}

int main() {
  int* out = zeros(128);
  kernel<<<4, 32>>>(out, 3);
  return judge(out, 128, [](int i) { return (i + 3) % 128; });
}
