// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 75
// The peer's write and the owner's read of its shared memory lie between the same two cluster barriers.

#include <cooperative_groups.h>

#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ int data[2];
  auto cluster = cooperative_groups::this_cluster();
  const int rank = cluster.block_rank();
  data[0] = data[1] = 7;
  cluster.sync();
  if (rank == 1) *cluster.map_shared_rank(&data[0], 0) = 9;  // expect: race-shared A
  if (rank == 0) out[0] = data[0];  // expect: race-shared B
  cluster.sync();
  if (rank == 0) out[1] = data[1];
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return ended();
}
