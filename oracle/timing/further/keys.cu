// SPDX-License-Identifier: Apache-2.0
// Histograms, scans, sorting, hashing, queues, gathers and reductions in other forms than in ../common.
#include <cooperative_groups.h>

#include "../common/common.h"

namespace cg = cooperative_groups;

template <class T>
__global__ void transpose_tiles(const T* in, T* out, int n) {  // 32 x 32 of a CTA
  __shared__ T tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y) out[(v + j) * n + u] = tile[threadIdx.x][threadIdx.y + j];
}

// Four by four of a thread, in registers.
__global__ void transpose_registers(const float4* in, float4* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
  float4 v[4];
  for (int j = 0; j < 4; ++j) v[j] = in[(y + j) * n / 4 + x];
  out[(4 * x) * n / 4 + y / 4] = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
  out[(4 * x + 1) * n / 4 + y / 4] = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
  out[(4 * x + 2) * n / 4 + y / 4] = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
  out[(4 * x + 3) * n / 4 + y / 4] = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
}

// 4096 bins of a CTA, stored as they are.
__global__ void histogram_private(const uint32_t* in, uint32_t* parts, int n) {
  extern __shared__ uint32_t bins[];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(bins + (in[i] >> 8 & 4095), 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) parts[blockIdx.x * 4096 + i] = bins[i];
}

__global__ void histogram_merge(const uint32_t* parts, uint32_t* bins, int many) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t sum = 0;
  for (int k = 0; k < many; ++k) sum += parts[k * 4096 + b];
  bins[b] = sum;
}

__global__ void histogram_skewed(const uint32_t* in, uint32_t* bins, int n) {  // most go to few bins
  __shared__ uint32_t mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(mine + __clz(in[i] << 8 | 1), 1);
  __syncthreads();
  if (mine[threadIdx.x]) atomicAdd(bins + threadIdx.x, mine[threadIdx.x]);
}

__device__ inline int scan_of_warp(int v, int lane) {
  for (int d = 1; d < 32; d *= 2) {
    const int u = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += u;
  }
  return v;
}

__global__ void scan_rounds(int* data) {  // Hillis and Steele, 1024 of a CTA
  __shared__ int s[2][1024];
  const int t = threadIdx.x;
  int at = 0;
  s[0][t] = data[blockIdx.x * 1024 + t];
  __syncthreads();
  for (int d = 1; d < 1024; d *= 2) {
    s[at ^ 1][t] = s[at][t] + (t >= d ? s[at][t - d] : 0);
    at ^= 1;
    __syncthreads();
  }
  data[blockIdx.x * 1024 + t] = s[at][t];
}

__global__ void scan_look_back(const int4* in, int4* out, volatile int* state) {  // CTAs in order; sums of those before
  __shared__ int part[8], before;
  const int t = threadIdx.x, lane = t % 32, w = t / 32;
  int4 v = in[blockIdx.x * 256 + t];
  v.y += v.x, v.z += v.y, v.w += v.z;
  const int mine = scan_of_warp(v.w, lane);
  if (lane == 31) part[w] = mine;
  __syncthreads();
  if (t == 0) {
    int all = 0;
    for (int k = 0; k < 8; ++k) {
      const int p = part[k];
      part[k] = all, all += p;
    }
    int sum = 0;
    if (blockIdx.x) {
      do sum = state[blockIdx.x - 1];
      while (!sum);
      --sum;
    }
    __threadfence();
    state[blockIdx.x] = sum + all + 1;
    before = sum;
  }
  __syncthreads();
  const int add = before + part[w] + mine - v.w;
  out[blockIdx.x * 256 + t] = make_int4(v.x + add, v.y + add, v.z + add, v.w + add);
}

__global__ void reduce_vectors(const float4* in, float* out, int n) {  // an atomic of each warp
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    s += v.x + v.y + v.z + v.w;
  }
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}

__global__ void reduce_rows(const float* in, float* out, int width) {  // a thread for each row
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int i = 0; i < width; ++i) s += in[row * width + i];
  out[row] = s;
}

__global__ void minmax_redux(const int* in, int* out, int n) {
  int low = 0x7fffffff, high = -0x7fffffff;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) low = min(low, in[i]), high = max(high, in[i]);
  low = __reduce_min_sync(~0u, low), high = __reduce_max_sync(~0u, high);
  if (threadIdx.x % 32 == 0) atomicMin(out, low), atomicMax(out + 1, high);
}

// 2048 bins over eight CTAs.
__global__ void __cluster_dims__(8) cluster_histogram(const uint32_t* in, uint32_t* bins, int n) {
  __shared__ uint32_t mine[256];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uint32_t b = in[i] >> 7 & 2047;
    atomicAdd(cluster.map_shared_rank(mine, b / 256) + b % 256, 1);
  }
  cluster.sync();
  atomicAdd(bins + cluster.block_rank() * 256 + threadIdx.x, mine[threadIdx.x]);
}

__global__ void odd_even_sort(uint32_t* data) {  // 256 keys of a CTA
  __shared__ uint32_t s[256];
  const int t = threadIdx.x;
  s[t] = data[blockIdx.x * 256 + t], s[t + 128] = data[blockIdx.x * 256 + t + 128];
  __syncthreads();
  for (int k = 0; k < 256; ++k) {
    const int i = 2 * t + (k & 1);
    if (i + 1 < 256 && s[i] > s[i + 1]) {
      const uint32_t v = s[i];
      s[i] = s[i + 1], s[i + 1] = v;
    }
    __syncthreads();
  }
  data[blockIdx.x * 256 + t] = s[t], data[blockIdx.x * 256 + t + 128] = s[t + 128];
}

__global__ void bitonic_step(uint32_t* data, int size, int d) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (d - 1)), j = i + d;
  const uint32_t a = data[i], b = data[j];
  if ((a > b) == ((i & size) == 0)) data[i] = b, data[j] = a;
}

__global__ void bitonic_warp(uint32_t* data) {  // 32 keys of a warp, in registers
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  uint32_t v = data[i];
  for (int size = 2; size <= 32; size *= 2)
    for (int d = size / 2; d; d /= 2) {
      const uint32_t u = __shfl_xor_sync(~0u, v, d);
      v = ((lane & d) == 0) == ((lane & size) == 0) ? min(u, v) : max(u, v);
    }
  data[i] = v;
}

// 256 digits, ranks by atomics.
__global__ void radix_scatter(const uint32_t* in, const uint32_t* starts, uint32_t* out, int shift) {
  __shared__ uint32_t at[256];
  at[threadIdx.x] = starts[threadIdx.x] + blockIdx.x * 16;
  __syncthreads();
  for (int k = 0; k < 8; ++k) {
    const uint32_t key = in[blockIdx.x * 2048 + k * 256 + threadIdx.x];
    out[atomicAdd(at + (key >> shift & 255), 1)] = key;
  }
}

// Key and count in one word.
__global__ void hash_count(const uint32_t* keys, unsigned long long* table, uint32_t mask) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i] & 0xffff;
  for (uint32_t slot = key * 2654435761u >> 9 & mask;; slot = (slot + 1) & mask) {
    unsigned long long there = table[slot];
    if (there == 0) {
      there = atomicCAS(table + slot, 0ull, static_cast<unsigned long long>(key + 1) << 32 | 1);
      if (there == 0) return;
    }
    if (there >> 32 == key + 1) {
      atomicAdd(table + slot, 1ull);
      return;
    }
  }
}

// Four queues, groups of lanes.
__global__ void append_groups(const uint32_t* in, uint32_t* queues, uint32_t* sizes, int room) {
  const uint32_t v = in[blockIdx.x * blockDim.x + threadIdx.x], q = v & 3;
  const uint32_t same = __match_any_sync(~0u, q), lane = threadIdx.x % 32, first = __ffs(same) - 1;
  uint32_t at = 0;
  if (lane == first) at = atomicAdd(sizes + q * 32, __popc(same));
  at = __shfl_sync(~0u, at, first) + __popc(same & ((1u << lane) - 1));
  if (at < room) queues[q * room + at] = v;
}

__global__ void bin_particles(const float4* particles, uint32_t* counts, uint32_t* where, int side) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 p = particles[i];
  const int x = static_cast<int>((p.x + 1) * 0.5f * side), y = static_cast<int>((p.y + 1) * 0.5f * side), z = static_cast<int>((p.z + 1) * 0.5f * side);
  const uint32_t cell = (z * side + y) * side + x;
  where[i] = cell << 8 | (atomicAdd(counts + cell, 1) & 255);
}

__global__ void gather_clustered(const float2* in, const uint32_t* index, float2* out) {  // runs of 16 lie together
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[index[i / 16] + i % 16];
}

__global__ void scatter_rows(const float* in, const uint32_t* index, float* out) {  // rows of 32 floats
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[static_cast<size_t>(index[i / 32]) * 32 + i % 32] = in[i];
}

// Sorted; an atomic where one ends.
__global__ void segment_sums(const float* in, const uint32_t* segment, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  float v = in[i];
  const uint32_t s = segment[i];
  for (int d = 1; d < 32; d *= 2) {
    const float u = __shfl_up_sync(~0u, v, d);
    const uint32_t of = __shfl_up_sync(~0u, s, d);
    if (lane >= d && of == s) v += u;
  }
  const uint32_t next = __shfl_down_sync(~0u, s, 1);
  if (lane == 31 || next != s) atomicAdd(out + s, v);
}

int main() {
  const int n = 4 << 20, side = 2048;
  float *a = floats(n), *b = zeros<float>(n);
  uint32_t *u = numbers(n), *v = zeros<uint32_t>(n), *w = zeros<uint32_t>(n);
  int* small = filled<int>(n, [](size_t) { return static_cast<int>(next_random() % 3); });
  transpose_tiles<double><<<dim3(side / 64, side / 32), dim3(32, 8)>>>(reinterpret_cast<double*>(a), reinterpret_cast<double*>(b), side / 2);
  transpose_tiles<uint16_t><<<dim3(side / 32, side / 32), dim3(32, 16)>>>(reinterpret_cast<uint16_t*>(a), reinterpret_cast<uint16_t*>(b), side);
  transpose_registers<<<dim3(side / 4 / 8, side / 4 / 32), dim3(8, 32)>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(b), side);
  histogram_private<<<264, 512, 16384>>>(u, v, n);
  histogram_merge<<<16, 256>>>(v, w, 264);
  histogram_skewed<<<528, 256>>>(u, w, n);
  scan_rounds<<<1024, 1024>>>(small);
  scan_look_back<<<512, 256>>>(reinterpret_cast<int4*>(small), reinterpret_cast<int4*>(v), zeros<int>(512));
  reduce_vectors<<<1056, 128>>>(reinterpret_cast<float4*>(a), b, n / 4);
  reduce_rows<<<8192 / 128, 128>>>(a, b, 256);
  minmax_redux<<<396, 256>>>(small, reinterpret_cast<int*>(w), n);
  cluster_histogram<<<256, 256>>>(u, w, n);
  odd_even_sort<<<1024, 128>>>(u);
  bitonic_step<<<n / 2 / 256, 256>>>(u, 1 << 20, 1 << 14);
  bitonic_warp<<<n / 256, 256>>>(u);
  uint32_t* starts = filled<uint32_t>(256, [](size_t i) { return static_cast<uint32_t>(i * 8192); });
  radix_scatter<<<512, 256>>>(u, starts, v, 8);
  hash_count<<<1024, 256>>>(u, zeros<unsigned long long>(1 << 18), (1 << 18) - 1);
  append_groups<<<4096, 256>>>(u, v, zeros<uint32_t>(128), 1 << 20);
  bin_particles<<<(1 << 20) / 256, 256>>>(reinterpret_cast<float4*>(a), zeros<uint32_t>(1 << 18), v, 48);
  gather_clustered<<<(1 << 20) / 256, 256>>>(reinterpret_cast<float2*>(a), numbers(65536, (2 << 20) - 16), reinterpret_cast<float2*>(b));
  uint32_t* shuffled = filled<uint32_t>(65536, [](size_t i) { return static_cast<uint32_t>(i * 40503 % 65536); });
  scatter_rows<<<65536 / 8, 256>>>(a, shuffled, b);
  segment_sums<<<4096, 256>>>(a, filled<uint32_t>(1 << 20, [](size_t i) { return static_cast<uint32_t>(i / 20); }), b);
  return finish();
}
