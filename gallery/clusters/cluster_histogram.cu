// SPDX-License-Identifier: Apache-2.0
// A histogram whose bins are spread over the shared memory of the CTAs of a cluster, of 1 to 16 CTAs: each CTA counts
// its part of the words with atomics into the CTA that owns the bin, then adds its own bins to the result in global
// memory.
#include <cooperative_groups.h>

#include "../experiment.h"
using namespace gallery;
namespace cg = cooperative_groups;

__global__ void histogram(const Word* in, size_t count, unsigned* bins, int bins_per_block) {
  extern __shared__ unsigned mine[];
  const cg::cluster_group cluster = cg::this_cluster();
  for (int k = threadIdx.x; k < bins_per_block; k += blockDim.x) mine[k] = 0;
  cluster.sync();
  const unsigned all = bins_per_block * cluster.num_blocks();
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
    const unsigned bin = in[i] % all;
    atomicAdd(cluster.map_shared_rank(mine, bin / bins_per_block) + bin % bins_per_block, 1);
  }
  cluster.sync();
  const unsigned first = cluster.block_rank() * bins_per_block;
  for (int k = threadIdx.x; k < bins_per_block; k += blockDim.x) atomicAdd(bins + first + k, mine[k]);
}

int main(int argc, char** argv) {
  Experiment e(argc, argv);
  const size_t count = e.h200 ? size_t(1) << 26 : 20000;
  const int all = e.h200 ? 32768 : 480, threads = e.h200 ? 512 : 64;
  const auto in = make_input(count);
  const DeviceArray<Word> from(in);
  must(cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "16 CTAs");
  for (int size : {1, 2, 3, 4, 6, 8, 10, 12, 16}) {
    const int per_block = (all + size - 1) / size, bins = per_block * size, bytes = per_block * 4;
    std::vector<unsigned> want(bins);
    for (Word w : in) ++want[w % bins];
    DeviceArray<unsigned> to(bins);
    must(cudaFuncSetAttribute(histogram, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory");
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = size, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = (e.h200 ? 240 : 16) / size * size, config.blockDim = threads, config.dynamicSmemBytes = bytes;
    config.attrs = &cluster, config.numAttrs = 1;
    int resident = 0;
    if (const cudaError_t error = cudaOccupancyMaxActiveClusters(&resident, histogram, &config)) {
      std::printf("clusters of %2d: %s\n", size, cudaGetErrorName(error));
      cudaGetLastError();
      continue;
    }
    const double ms = e.time([&] {
      must(cudaMemsetAsync(to.get(), 0, bins * 4), "clear");
      must(cudaLaunchKernelEx(&config, histogram, static_cast<const Word*>(from.get()), count, to.get(), per_block), "launch");
    });
    const auto got = to.copy();
    char name[64];
    std::snprintf(name, sizeof name, "clusters of %2d, %3d resident", size, resident);
    e.report(name, got, got == want, ms, 4.0 * double(count));
  }
  return e.finish();
}
