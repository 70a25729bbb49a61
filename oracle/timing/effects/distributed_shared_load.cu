// SPDX-License-Identifier: Apache-2.0
// F9: what a CTA gets of the shared memory of the next one of its cluster, by size and number of clusters: 512 threads,
// 16 bytes each, eight under way, and chains of one warp.
#include <cooperative_groups.h>

#include "effects.h"
namespace cg = cooperative_groups;

constexpr int kWords = 2048, kTurns = 128, kSteps = 1024;
enum class What { Load, Store, Own };

template <What kWhat>
__global__ void __launch_bounds__(512) move(unsigned* out) {
  __shared__ uint4 words[kWords];
  const auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = {1, 2, 3, unsigned(i)};
  cluster.sync();
  unsigned there, sum = 0;
  const unsigned to = kWhat == What::Own ? cluster.block_rank() : (cluster.block_rank() + 1) % cluster.num_blocks();
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(unsigned(__cvta_generic_to_shared(words))), "r"(to));
  for (int k = 0; k < kTurns; ++k) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const unsigned at = there + ((j * 512 + threadIdx.x + k * 32) % kWords) * 16;
      uint4 v;
      if (kWhat == What::Store) {
        asm volatile("st.shared::cluster.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(k) : "memory");
      } else {
        asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at) : "memory");
        sum += v.w;
      }
    }
  }
  cluster.sync();
  out[blockIdx.x * 512 + threadIdx.x] = sum;
}

__global__ void chase(unsigned* out, int lanes) {
  __shared__ unsigned words[kWords];
  const auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = (i * 5 + 17) % kWords;
  cluster.sync();
  unsigned there, at = threadIdx.x;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(unsigned(__cvta_generic_to_shared(words))), "r"((cluster.block_rank() + 1) % cluster.num_blocks()));
  if (int(threadIdx.x) < lanes)
    for (int k = 0; k < kSteps; ++k) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(at) : "r"(there + at * 4) : "memory");
  cluster.sync();
  out[blockIdx.x * 32 + threadIdx.x] = at;
}

template <class... A>
void launch(void (*kernel)(A...), int size, int clusters, int threads, A... a) {
  cudaLaunchAttribute at{};
  at.id = cudaLaunchAttributeClusterDimension;
  at.val.clusterDim.x = size, at.val.clusterDim.y = at.val.clusterDim.z = 1;
  cudaLaunchConfig_t c{};
  c.gridDim = size * clusters, c.blockDim = threads, c.attrs = &at, c.numAttrs = 1;
  MUST(cudaLaunchKernelEx(&c, kernel, a...));
}

int main(int argc, char** argv) {
  arguments(argc, argv);
  unsigned* out;
  MUST(cudaMalloc(&out, 132 * 512 * 4));
  for (const int size : {2, 4, 8})
    for (int clusters = 1; size * clusters <= 132; clusters = clusters * 2 > 128 / size && clusters < 128 / size ? 128 / size : clusters * 2) {
      const std::string as = std::to_string(clusters) + "_of_" + std::to_string(size);
      tell("load_" + as, microseconds(nullptr, [&] { launch(move<What::Load>, size, clusters, 512, out); }));
      tell("store_" + as, microseconds(nullptr, [&] { launch(move<What::Store>, size, clusters, 512, out); }));
      if (clusters == 1) tell("own_" + as, microseconds(nullptr, [&] { launch(move<What::Own>, size, clusters, 512, out); }));
      for (const int lanes : {1, 32})
        tell("chase_" + std::to_string(lanes) + "_lanes_" + as, microseconds(nullptr, [&] { launch(chase, size, clusters, 32, out, lanes); }));
    }
  std::vector<unsigned> got(32);
  MUST(cudaMemcpy(got.data(), out, 128, cudaMemcpyDeviceToHost));
  for (unsigned t = 0; t < 32; ++t) {
    unsigned at = t;
    for (int k = 0; k < kSteps; ++k) at = (at * 5 + 17) % kWords;
    check(got[t] == at, "chain");
  }
  std::puts("ok");
}
