// SPDX-License-Identifier: Apache-2.0
// Thread block clusters: ranks, shared memory of the neighbour, a histogram spread over the cluster,
// arrive and wait apart.
#include <cooperative_groups.h>

#include "program.h"
using namespace program;
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) neighbours(uint32_t* out) {
  __shared__ uint32_t cell[64];
  const auto cluster = cg::this_cluster();
  const int rank = cluster.block_rank(), t = threadIdx.x;
  cell[t] = mix(blockIdx.x * 64 + t);
  cluster.sync();
  uint32_t v = cell[t];
  for (int step = 1; step < 4; ++step) v = v * 3 + cluster.map_shared_rank(cell, (rank + step) % 4)[63 - t];
  cluster.barrier_arrive();
  v = mix(v + cluster.num_blocks() * 1000 + rank);
  cluster.barrier_wait();
  out[blockIdx.x * 64 + t] = v;
}

constexpr int kBins = 512;
__global__ void spread_histogram(uint32_t* bins, const uint32_t* in, int n) {
  extern __shared__ uint32_t mine[];
  const auto cluster = cg::this_cluster();
  const int blocks = cluster.num_blocks(), share = kBins / blocks, rank = cluster.block_rank();
  for (int k = threadIdx.x; k < share; k += blockDim.x) mine[k] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uint32_t bin = in[i] % kBins;
    atomicAdd(cluster.map_shared_rank(mine, bin / share) + bin % share, 1u);
  }
  cluster.sync();
  for (int k = threadIdx.x; k < share; k += blockDim.x) atomicAdd(&bins[rank * share + k], mine[k]);
}

int main() {
  Device<uint32_t> out(12 * 64);
  neighbours<<<12, 64>>>(out);
  MUST_RUN();
  std::vector<uint32_t> want(12 * 64);
  for (int b = 0; b < 12; ++b)
    for (int t = 0; t < 64; ++t) {
      uint32_t v = mix(b * 64 + t);
      for (int step = 1; step < 4; ++step) v = v * 3 + mix((b / 4 * 4 + (b + step) % 4) * 64 + 63 - t);
      want[b * 64 + t] = mix(v + 4000 + b % 4);
    }
  expect_equal("neighbours", out.copy(), want);
  const int n = 100000;
  const std::vector<uint32_t> in = random_words(n, 80);
  std::vector<uint32_t> counted(kBins);
  for (uint32_t v : in) ++counted[v % kBins];
  Device<uint32_t> from(in);
  for (unsigned size : {1u, 2u, 4u, 8u}) {
    Device<uint32_t> bins(kBins);
    cudaLaunchConfig_t config{};
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = size, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(16), config.blockDim = dim3(128), config.dynamicSmemBytes = kBins / size * 4;
    config.attrs = &attribute, config.numAttrs = 1;
    MUST(cudaLaunchKernelEx(&config, spread_histogram, static_cast<uint32_t*>(bins), static_cast<const uint32_t*>(static_cast<uint32_t*>(from)), n));
    MUST_RUN();
    char name[32];
    std::snprintf(name, sizeof name, "histogram over %u", size);
    expect_equal(name, bins.copy(), counted);
  }
  return finish();
}
