// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 73
// A block asks for its neighbour by its rank in the cluster.
#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ int word;
  auto cluster = cg::this_cluster();
  word = blockIdx.x;
  cluster.sync();
  const int* other = cluster.map_shared_rank(&word, cluster.block_rank() ^ 1);
  out[blockIdx.x] = *other;
  cluster.sync();
}

int main() {
  int* out = zeros(4);
  kernel<<<4, 1>>>(out);
  return judge(out, 4, [](int i) { return i ^ 1; });
}
