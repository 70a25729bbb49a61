// SPDX-License-Identifier: Apache-2.0
// cudaLaunchAttributePreferredClusterDimension: what is refused, and in which clusters the blocks find themselves.
#include <cooperative_groups.h>

#include "api.h"

namespace cg = cooperative_groups;

struct Seen {
  dim3 size, at, grid;
  int rank, together;
};
__device__ void look(Seen* seen) {
  __shared__ int mine;
  const cg::cluster_group c = cg::this_cluster();
  if (threadIdx.x == 0) mine = 1;
  c.sync();
  int sum = 0;
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < c.num_blocks(); ++i) sum += *c.map_shared_rank(&mine, i);
  c.sync();
  if (threadIdx.x) return;
  Seen& s = seen[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x];
  s.size = c.dim_blocks();
  s.at = c.block_index();
  s.rank = static_cast<int>(c.block_rank());
  s.together = sum;
  asm("mov.u32 %0, %nclusterid.x; mov.u32 %1, %nclusterid.y; mov.u32 %2, %nclusterid.z;" : "=r"(s.grid.x), "=r"(s.grid.y), "=r"(s.grid.z));
}
__global__ void every(Seen* s) { look(s); }
__global__ void __cluster_dims__(2, 1, 1) two(Seen* s) { look(s); }
__global__ void __launch_bounds__(64, 1, 4) four_at_most(Seen* s) { look(s); }

Seen* seen;

bool same(const dim3& a, const dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

void show_seen(dim3 grid) {
  const unsigned n = grid.x * grid.y * grid.z;
  MUST(cudaDeviceSynchronize());
  unsigned good = 0, of_first = 0;
  for (unsigned i = 0; i < n; ++i) {
    const Seen& s = seen[i];
    const dim3 block(i % grid.x, i / grid.x % grid.y, i / (grid.x * grid.y));
    const unsigned all = s.size.x * s.size.y * s.size.z;
    good += all && s.together == static_cast<int>(all) && block.x % s.size.x == s.at.x && block.y % s.size.y == s.at.y && block.z % s.size.z == s.at.z;
    of_first += same(s.size, seen[0].size);
  }
  std::printf("    cluster %u %u %u of %u %u %u: %u of %u blocks, %u fit\n", seen[0].size.x, seen[0].size.y, seen[0].size.z,
              seen[0].grid.x, seen[0].grid.y, seen[0].grid.z, of_first, n, good);
}

void launch(const char* what, void (*kernel)(Seen*), dim3 grid, dim3 regular, dim3 preferred, bool preferred_first = false) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute a[2] = {};
  int n = 0;
  const auto add = [&](cudaLaunchAttributeID id, dim3 d) {
    a[n].id = id;
    a[n].val.clusterDim = {d.x, d.y, d.z};
    ++n;
  };
  if (preferred_first) add(cudaLaunchAttributePreferredClusterDimension, preferred);
  if (regular.x != 99) add(cudaLaunchAttributeClusterDimension, regular);
  if (!preferred_first && preferred.x != 99) add(cudaLaunchAttributePreferredClusterDimension, preferred);
  config.gridDim = grid, config.blockDim = 64, config.attrs = a, config.numAttrs = static_cast<unsigned>(n);
  MUST(cudaMemset(seen, 0, 1024 * sizeof *seen));
  const cudaError_t e = cudaLaunchKernelEx(&config, kernel, seen);
  std::printf("%-60s %3d %s\n", what, e, cudaGetErrorName(e));
  if (e == cudaSuccess)
    show_seen(grid);
  else
    cudaGetLastError();
  int count = -1;
  const cudaError_t o = cudaOccupancyMaxActiveClusters(&count, kernel, &config);
  std::printf("    active clusters: %3d %s %d\n", o, cudaGetErrorName(o), count);
  cudaGetLastError();
}

int main() {
  MUST(cudaMallocManaged(&seen, 1024 * sizeof *seen));
  const dim3 none(99, 1, 1);
  launch("regular 2", every, 16, 2, none);
  launch("regular 2, preferred 4", every, 16, 2, 4);
  launch("the same, named the other way round", every, 16, 2, 4, true);
  launch("regular 1, preferred 4", every, 16, 1, 4);
  launch("regular 1, preferred 1", every, 16, 1, 1);
  launch("regular 4, preferred 4", every, 16, 4, 4);
  launch("regular 4, preferred 2", every, 16, 4, 2);
  launch("regular 2, preferred 3", every, 12, 2, 3);
  launch("regular 2, preferred 6", every, 12, 2, 6);
  launch("regular 2, preferred 4, which does not divide the grid", every, 18, 2, 4);
  launch("regular 2, preferred 8", every, 64, 2, 8);
  launch("regular 2, preferred 16", every, 64, 2, 16);
  launch("regular 2, preferred 32", every, 64, 2, 32);
  launch("regular 2, preferred 0", every, 16, 2, 0);
  launch("regular 2, preferred 4 0 0", every, 16, 2, dim3(4, 0, 0));
  launch("preferred 4 alone", every, 16, none, 4);
  launch("regular 2 2, preferred 4 2", every, dim3(8, 4), dim3(2, 2), dim3(4, 2));
  launch("regular 2 1, preferred 2 4", every, dim3(8, 4), dim3(2, 1), dim3(2, 4));
  launch("regular 2 1 1, preferred 2 1 2", every, dim3(4, 2, 2), dim3(2, 1, 1), dim3(2, 1, 2));
  launch("cluster 2 by the kernel, preferred 4", two, 16, none, 4);
  launch("cluster 2 by the kernel and the launch, preferred 4", two, 16, 2, 4);
  launch("4 at most, regular 2, preferred 4", four_at_most, 16, 2, 4);
  launch("4 at most, regular 2, preferred 8", four_at_most, 16, 2, 8);
  launch("many blocks, regular 2, preferred 8", every, 1024, 2, 8);
  MUST(cudaFuncSetAttribute(every, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  launch("16 allowed: regular 2, preferred 16", every, 64, 2, 16);
  launch("16 allowed: regular 8, preferred 32", every, 64, 8, 32);
  return 0;
}
