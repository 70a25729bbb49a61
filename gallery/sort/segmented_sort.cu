// SPDX-License-Identifier: Apache-2.0
// Sorts many segments of kLength ints, a thread for each: a tile of segments comes to shared memory, each thread takes
// its segment into registers (a column of the tile: where banks conflict), sorts it with a network, and puts it back.
//
//   sync, padded            through registers, rows one word longer than a segment
//   cp.async, padded        4 bytes at a time, since padded rows are not aligned for more
//   cp.async, swizzled      16 bytes at a time, their place in the row exchanged by the row's number
//   bulk tensor, swizzled   the same exchange made by the copy, in both directions
#include <cuda_pipeline_primitives.h>

#include <algorithm>

#include "../experiment.h"
using namespace gallery;

constexpr int kThreads = 64;

// One step of the odd-even merge network: words kStep apart, inside groups of 2 * kGroup.
template <int kLength, int kGroup, int kStep>
__device__ void sort_step(int (&v)[kLength]) {
  constexpr int kFirst = kStep % kGroup;
#pragma unroll
  for (int a = kFirst; a < kLength - kStep; ++a)
    if ((a - kFirst) / kStep % 2 == 0 && a / (2 * kGroup) == (a + kStep) / (2 * kGroup)) {
      const int low = min(v[a], v[a + kStep]), high = max(v[a], v[a + kStep]);
      v[a] = low, v[a + kStep] = high;
    }
  if constexpr (kStep > 1) sort_step<kLength, kGroup, kStep / 2>(v);
  else if constexpr (kGroup * 2 < kLength) sort_step<kLength, kGroup * 2, kGroup * 2>(v);
}

template <int kLength>
__device__ void sort(int (&v)[kLength]) {
  sort_step<kLength, 1, 1>(v);
}

template <int kLength, bool kAsync>
__global__ void __launch_bounds__(kThreads) padded(const int* in, int* out, int segments) {
  extern __shared__ int tile[];
  constexpr int kPitch = kLength + 1;
  const size_t start = size_t(blockIdx.x) * kThreads * kLength;
  for (int i = threadIdx.x; i < kThreads * kLength; i += kThreads) {
    int* to = tile + i / kLength * kPitch + i % kLength;
    if (kAsync) __pipeline_memcpy_async(to, in + start + i, 4);
    else *to = in[start + i];
  }
  if (kAsync) __pipeline_commit(), __pipeline_wait_prior(0);
  __syncthreads();
  int v[kLength];
#pragma unroll
  for (int k = 0; k < kLength; ++k) v[k] = tile[threadIdx.x * kPitch + k];
  sort(v);
#pragma unroll
  for (int k = 0; k < kLength; ++k) tile[threadIdx.x * kPitch + k] = v[k];
  __syncthreads();
  for (int i = threadIdx.x; i < kThreads * kLength; i += kThreads) out[start + i] = tile[i / kLength * kPitch + i % kLength];
}

// Shared memory as [kLength / 32][kThreads][8 chunks of 16 bytes], chunk c of segment s at c ^ s % 8.
template <int kLength>
__device__ int4* chunk(int4* tile, int segment, int c) {
  return tile + (c / 8 * kThreads + segment) * 8 + ((c ^ segment) & 7);
}

template <int kLength>
__device__ void sort_chunks(int4* tile) {
  int v[kLength];
#pragma unroll
  for (int c = 0; c < kLength / 4; ++c) {
    const int4 q = *chunk<kLength>(tile, threadIdx.x, c);
    v[4 * c] = q.x, v[4 * c + 1] = q.y, v[4 * c + 2] = q.z, v[4 * c + 3] = q.w;
  }
  sort(v);
#pragma unroll
  for (int c = 0; c < kLength / 4; ++c) *chunk<kLength>(tile, threadIdx.x, c) = make_int4(v[4 * c], v[4 * c + 1], v[4 * c + 2], v[4 * c + 3]);
}

template <int kLength>
__global__ void __launch_bounds__(kThreads) swizzled(const int4* in, int4* out, int segments) {
  extern __shared__ __align__(1024) int4 chunks[];
  constexpr int kChunks = kLength / 4;
  const size_t start = size_t(blockIdx.x) * kThreads * kChunks;
  for (int i = threadIdx.x; i < kThreads * kChunks; i += kThreads)
    __pipeline_memcpy_async(chunk<kLength>(chunks, i / kChunks, i % kChunks), in + start + i, 16);
  __pipeline_commit(), __pipeline_wait_prior(0);
  __syncthreads();
  sort_chunks<kLength>(chunks);
  __syncthreads();
  for (int i = threadIdx.x; i < kThreads * kChunks; i += kThreads) out[start + i] = *chunk<kLength>(chunks, i / kChunks, i % kChunks);
}

// The tensors: 32 words, segment, which 32 words of it.
template <int kLength>
__global__ void __launch_bounds__(kThreads) bulk_tensor(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
  extern __shared__ __align__(1024) int4 chunks[];
  __shared__ uint64_t full;
  const int first = blockIdx.x * kThreads;
  if (threadIdx.x == 0) {
    init_mbarrier(&full, 1);
    fence_mbarrier_init();
    expect(&full, kThreads * kLength * 4);
    load_tile(chunks, &in, 0, first, 0, &full);
  }
  __syncthreads();
  wait_mbarrier(&full, 0);
  sort_chunks<kLength>(chunks);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&out), "r"(0), "r"(first), "r"(0),
                 "r"(shared_address(chunks)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

template <int kLength>
void run(Experiment& e, int segments) {
  std::vector<int> in(size_t(segments) * kLength);
  Word state = 7;
  for (int& i : in) state = state * 1664525u + 1013904223u, i = int(state);
  std::vector<int> want = in;
  for (size_t s = 0; s < in.size(); s += kLength) std::sort(want.begin() + s, want.begin() + s + kLength);
  const DeviceArray<int> from(in);
  DeviceArray<int> to(in.size());
  const auto variant = [&](const char* name, auto kernel, int shared, auto launch) {
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
    to.fill(0xA5);
    const double ms = e.time(launch);
    const auto got = to.copy();
    e.report(name, got, got == want, ms, 8.0 * double(in.size()));
  };
  const int grid = segments / kThreads, pad = kThreads * (kLength + 1) * 4, dense = kThreads * kLength * 4;
  variant("sync, padded", padded<kLength, false>, pad, [&] { padded<kLength, false><<<grid, kThreads, pad>>>(from.get(), to.get(), segments); });
  variant("cp.async, padded", padded<kLength, true>, pad, [&] { padded<kLength, true><<<grid, kThreads, pad>>>(from.get(), to.get(), segments); });
  variant("cp.async, swizzled", swizzled<kLength>, dense, [&] {
    swizzled<kLength><<<grid, kThreads, dense>>>(reinterpret_cast<int4*>(from.get()), reinterpret_cast<int4*>(to.get()), segments);
  });
  const cuuint64_t dims[] = {32, cuuint64_t(segments), kLength / 32}, strides[] = {4, kLength * 4, 128};
  const cuuint32_t box[] = {32, kThreads, kLength / 32};
  const auto type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  const CUtensorMap source = tensor_map(from.get(), dims, strides, box, CU_TENSOR_MAP_SWIZZLE_128B, type);
  const CUtensorMap target = tensor_map(to.get(), dims, strides, box, CU_TENSOR_MAP_SWIZZLE_128B, type);
  variant("bulk tensor, swizzled", bulk_tensor<kLength>, dense, [&] { bulk_tensor<kLength><<<grid, kThreads, dense>>>(source, target); });
}

int main(int argc, char** argv) {
  Experiment e(argc, argv);
  if (e.h200) run<128>(e, 1 << 20);
  else run<32>(e, 1024);
  return e.finish();
}
