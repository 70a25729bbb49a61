// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 69, 83
// A block without items leaves while another adds to its bins.
#include <cooperative_groups.h>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) kernel(const int* in, int* out, int n) {
  __shared__ int bins[32];
  auto cluster = cg::this_cluster();
  const int t = threadIdx.x, i = blockIdx.x * 32 + t;
  bins[t] = 0;
  cluster.sync();
  if (blockIdx.x * 32 >= n) return;
  const int key = i < n ? in[i] % 64 : -1;
  if (key >= 0) atomicAdd(cluster.map_shared_rank(bins, key / 32) + key % 32, 1);  // expect: cluster-exit
  cluster.sync();
  out[i] = bins[t];
}

int main() {
  int *in = device<int>(32, [](int i) { return 2 * i; }), *out = zeros(64);
  kernel<<<2, 32>>>(in, out, 32);
  return ended();
}
