// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 73
// A block asks for its neighbour by its number in the grid instead of its rank in the cluster.
#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ int word;
  auto cluster = cg::this_cluster();
  word = blockIdx.x;
  cluster.sync();
  const int* other = cluster.map_shared_rank(&word, blockIdx.x ^ 1);
  out[blockIdx.x] = *other;  // expect: cluster-rank
  cluster.sync();
}

int main() {
  int* out = zeros(4);
  kernel<<<4, 1>>>(out);
  return ended();
}
