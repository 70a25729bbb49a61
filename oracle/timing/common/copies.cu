// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies, clusters, cooperative groups and persistent CTAs, as they are commonly written.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "common.h"

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Sums of rows; four stages of cp.async.
__global__ void rows_in_stages(const float4* in, float* out, int rows) {
  constexpr int kStages = 4;
  __shared__ float4 s[kStages][256];
  const int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  float sum = 0;
  int asked = 0;
  for (int r = 0; r < rows; ++r) {
    for (; asked < rows && asked < r + kStages; ++asked) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[asked % kStages][t], &in[(static_cast<size_t>(asked) * gridDim.x + blockIdx.x) * 256 + t], cuda::aligned_size_t<16>(16), pipe);
      pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<kStages - 1>(pipe);
    const float4 v = s[r % kStages][t];
    sum += v.x * v.x + v.y + v.z * v.w;
    pipe.consumer_release();
  }
  out[blockIdx.x * 256 + t] = sum;
}

// Tiles by bulk copies, two stages, an mbarrier each.
__global__ void bulk_tiles(const float* in, float* out, int tiles) {
  constexpr int kTile = 4096;
  extern __shared__ __align__(128) float s[];
  __shared__ Barrier full[2];
  const int t = threadIdx.x;
  if (t == 0) {
    for (auto& b : full) init(&b, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token[2];
  const auto ask = [&](int tile) {
    if (t == 0) {
      cuda::device::experimental::cp_async_bulk_global_to_shared(s + tile % 2 * kTile, in + (static_cast<size_t>(tile) * gridDim.x + blockIdx.x) * kTile, kTile * 4, full[tile % 2]);
      token[tile % 2] = cuda::device::barrier_arrive_tx(full[tile % 2], 1, kTile * 4);
    } else {
      token[tile % 2] = full[tile % 2].arrive();
    }
  };
  ask(0);
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) ask(k + 1);
    full[k % 2].wait(std::move(token[k % 2]));
    float* const mine = out + (static_cast<size_t>(k) * gridDim.x + blockIdx.x) * kTile;
    for (int i = t; i < kTile; i += blockDim.x) mine[i] = s[k % 2 * kTile + i] * 2 + 1;
    __syncthreads();
  }
}

// One warp asks for tiles, the others use them.
__global__ void warps_with_roles(const float* in, float* out, int tiles) {
  constexpr int kStages = 3, kTile = 2048;
  extern __shared__ __align__(128) float s[];
  __shared__ Barrier full[kStages], empty[kStages];
  const int t = threadIdx.x;
  if (t == 0) {
    for (auto& b : full) init(&b, 1);
    for (auto& b : empty) init(&b, blockDim.x - 32);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  if (t < 32) {
    for (int k = 0; k < tiles; ++k) {
      if (k >= kStages) empty[k % kStages].wait_parity((k / kStages + 1) & 1);
      if (t == 0) {
        cuda::device::experimental::cp_async_bulk_global_to_shared(s + k % kStages * kTile, in + (static_cast<size_t>(k) * gridDim.x + blockIdx.x) * kTile, kTile * 4, full[k % kStages]);
        (void)cuda::device::barrier_arrive_tx(full[k % kStages], 1, kTile * 4);
      }
      __syncwarp();
    }
  } else {
    float sum = 0;
    for (int k = 0; k < tiles; ++k) {
      full[k % kStages].wait_parity(k / kStages & 1);
      for (int i = t - 32; i < kTile; i += blockDim.x - 32) sum += s[k % kStages * kTile + i];
      (void)empty[k % kStages].arrive();
    }
    out[blockIdx.x * (blockDim.x - 32) + t - 32] = sum;
  }
}

// Sums over a cluster through distributed shared memory.
__global__ void __cluster_dims__(4) cluster_sums(const float4* in, float* out, int rounds) {
  __shared__ float part[8], mine;
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const float4 v = in[(static_cast<size_t>(r) * gridDim.x + blockIdx.x) * blockDim.x + t];
    float sum = v.x + v.y + v.z + v.w;
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    if (t == 0) {
      mine = 0;
      for (float p : part) mine += p;
    }
    cluster.sync();
    if (t == 0) {
      float all = 0;
      for (unsigned k = 0; k < cluster.num_blocks(); ++k) all += *cluster.map_shared_rank(&mine, k);
      out[r * gridDim.x + blockIdx.x] = all;
    }
    cluster.sync();
  }
}

// A histogram whose bins are spread over a cluster.
__global__ void __cluster_dims__(2) cluster_bins(const uint32_t* in, uint32_t* bins, int n) {
  __shared__ uint32_t mine[2048];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) mine[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uint32_t bin = in[i] % 4096;
    atomicAdd(cluster.map_shared_rank(mine, bin / 2048) + bin % 2048, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) atomicAdd(bins + cluster.block_rank() * 2048 + i, mine[i]);
}

__global__ void tiles_of_threads(const float* in, float* out, int n) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  for (int g = (blockIdx.x * blockDim.x + threadIdx.x) / 8; g < n / 64; g += gridDim.x * blockDim.x / 8) {
    float v = 0;
    for (int k = tile.thread_rank(); k < 64; k += 8) v = fmaxf(v, in[g * 64 + k]);
    v = cg::reduce(tile, v, cg::greater<float>());
    if (tile.thread_rank() == 0) out[g] = v;
  }
}

// Blocks that take work until there is none.
__global__ void persistent(const float* in, float* out, uint32_t* next, int jobs) {
  __shared__ int job;
  for (;;) {
    if (threadIdx.x == 0) job = atomicAdd(next, 1);
    __syncthreads();
    const int mine = job;
    __syncthreads();
    if (mine >= jobs) return;
    float v = in[mine * 256 + threadIdx.x];
    for (int k = 0; k < 16 + mine % 48; ++k) v = v * 0.99f + 0.01f;
    out[mine * 256 + threadIdx.x] = v;
  }
}

// A sum over the grid whose last block adds up.
__global__ void last_block(const float* in, float* part, uint32_t* count, float* out, int n) {
  __shared__ float s[8];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  const auto of_block = [&](float v) {
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (float x : s) v += x;
    return v;
  };
  sum = of_block(sum);
  if (threadIdx.x == 0) {
    part[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += part[i];
  __syncthreads();
  sum = of_block(sum);
  if (threadIdx.x == 0) *out = sum;
}

int main() {
  const int n = 8 << 20;
  float *a = floats(n), *b = zeros<float>(n);
  uint32_t *u = numbers(1 << 20), *v = zeros<uint32_t>(8192);
  rows_in_stages<<<264, 256>>>(reinterpret_cast<float4*>(a), b, 28);
  must(cudaFuncSetAttribute(bulk_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768), "attribute");
  bulk_tiles<<<264, 256, 32768>>>(a, b, 6);
  warps_with_roles<<<264, 160, 24576>>>(a, b, 14);
  cluster_sums<<<264, 256>>>(reinterpret_cast<float4*>(a), b, 16);
  cluster_bins<<<264, 256>>>(u, v, 1 << 20);
  tiles_of_threads<<<528, 256>>>(a, b, n / 2);
  persistent<<<528, 256>>>(a, b, v + 4096, 8192);
  last_block<<<264, 256>>>(a, b, v + 4100, b + 4096, n / 2);
  return finish();
}
