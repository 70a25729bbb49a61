// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 75
// They concern different words.

#include <cooperative_groups.h>

#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) {
  __shared__ int data[2];
  auto cluster = cooperative_groups::this_cluster();
  const int rank = cluster.block_rank();
  data[0] = data[1] = 7;
  cluster.sync();
  if (rank == 1) *cluster.map_shared_rank(&data[1], 0) = 9;
  if (rank == 0) out[0] = data[0];
  cluster.sync();
  if (rank == 0) out[1] = data[1];
}

int main() {
  int* out = zeros(2);
  kernel<<<2, 1>>>(out);
  return judge(out, 2, [](int i) { return 7 + 2 * i; });
}
