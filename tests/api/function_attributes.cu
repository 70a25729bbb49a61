// SPDX-License-Identifier: Apache-2.0
// The attributes of a kernel, and the occupancy that follows from them. Registers depend on the compiler: not shown.
#include "api.h"

__global__ void plain(int* p) { *p = 1; }
__global__ void __launch_bounds__(256, 4) bounded(int* p) { *p = 1; }
__global__ void with_shared(int* p) {
  __shared__ int space[1000];
  space[threadIdx.x] = *p;
  __syncthreads();
  *p = space[(threadIdx.x * 7) % blockDim.x];
}
__global__ void with_parameters(char c, double d, int* p, short s) { *p = static_cast<int>(c + d + s); }
__constant__ int table[100];
__global__ void with_constant(int* p) { *p = table[*p]; }
__global__ void __cluster_dims__(2, 2, 1) in_clusters(int* p) { *p = 1; }

template <class K>
void describe(const char* name, K kernel) {
  cudaFuncAttributes a = {};
  MUST(cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(kernel)));
  std::printf("%s: shared %zu const %zu local %zu threads %d dynamic %d carveout %d cluster %d %dx%dx%d policy %d portable %d\n", name,
              a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock, a.maxDynamicSharedSizeBytes,
              a.preferredShmemCarveout, a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight, a.requiredClusterDepth,
              a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed);
}

template <class K>
void occupancy(const char* name, K kernel, int threads, size_t shared) {
  int blocks = -1;
  const cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared);
  std::printf("%s, %d threads, %zu bytes: %d blocks (%d)\n", name, threads, shared, blocks, e);
}

int main() {
  describe("plain", plain);
  describe("bounded", bounded);
  describe("with_shared", with_shared);
  describe("with_parameters", with_parameters);
  describe("with_constant", with_constant);
  describe("in_clusters", in_clusters);
  MUST(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  MUST(cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, 30));
  MUST(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  describe("plain", plain);
  for (size_t i = 0; i < 5; ++i) {
    size_t offset = 99, size = 99;
    const cudaError_t e = cudaFuncGetParamInfo(reinterpret_cast<const void*>(with_parameters), i, &offset, &size);
    std::printf("parameter %zu: %d offset %zu size %zu\n", i, e, offset, size);
  }
  cudaGetLastError();
  const char* name = nullptr;
  SHOW(cudaFuncGetName(&name, reinterpret_cast<const void*>(plain)));
  std::printf("%s\n", name);
  for (const int threads : {1, 32, 33, 64, 96, 128, 192, 256, 512, 768, 1024, 1025}) occupancy("bounded", bounded, threads, 0);
  occupancy("bounded", bounded, 0, 0);
  occupancy("bounded", bounded, -1, 0);
  for (const size_t shared : {size_t{0}, size_t{1024}, size_t{10000}, size_t{49152}, size_t{49153}, size_t{100000}, size_t{232448}, size_t{232449}})
    occupancy("with_shared", with_shared, 128, shared);
  cudaGetLastError();
  for (const int percent : {-1, 0, 25, 50, 100}) {
    MUST(cudaFuncSetAttribute(with_shared, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
    std::printf("carveout %d: ", percent);
    occupancy("with_shared", with_shared, 64, 3000);
  }
  size_t available = 0;
  for (const int blocks : {1, 2, 4, 8, 32, 33}) {
    const cudaError_t e = cudaOccupancyAvailableDynamicSMemPerBlock(&available, with_shared, blocks, 64);
    std::printf("available for %d blocks: %d %zu\n", blocks, e, available);
  }
  cudaGetLastError();
  int grid = 0, block = 0;
  SHOW(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
  std::printf("%d %d\n", grid, block);
  cudaLaunchConfig_t config = {};
  config.gridDim = 16;
  config.blockDim = 128;
  int clusters = 0, size = 0;
  SHOW(cudaOccupancyMaxActiveClusters(&clusters, in_clusters, &config));
  SHOW(cudaOccupancyMaxPotentialClusterSize(&size, bounded, &config));
  VALUE(size);
  SHOW(cudaOccupancyMaxPotentialClusterSize(&size, plain, &config));
  VALUE(size);
  return 0;
}
