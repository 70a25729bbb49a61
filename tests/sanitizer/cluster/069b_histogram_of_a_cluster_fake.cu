// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 69
// Bins of a histogram lie in the blocks of a cluster; without the last cluster.sync() some have ended.
#include <cooperative_groups.h>
#include "../twin.h"

namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4) kernel(const int* in, int* out, int n) {
  extern __shared__ int bins[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 16; i += blockDim.x) bins[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = in[i] & 63;
    int* there = cluster.map_shared_rank(bins, bin / 16);
    atomicAdd(there + bin % 16, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < 16; i += blockDim.x) atomicAdd(out + cluster.block_rank() * 16 + i, bins[i]);
}

int main() {
  int *in = iota(4096), *out = zeros(64);
  kernel<<<8, 64, 64>>>(in, out, 4096);
  return judge(out, 64, [](int) { return 64; });
}
