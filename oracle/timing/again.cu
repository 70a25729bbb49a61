// SPDX-License-Identifier: Apache-2.0
// What is stored again before it has left, and sums of lanes that meet in sectors which lie apart. Prints a line for
// each launch: kind, two sizes, CTAs, threads. See README.md.
// sass: STG.E, STG.E.U8, STG.E.128, LDG.E, REDG.E.ADD, REDG.E.ADD.F32
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,l1tex__lsuin_requests.sum,lts__t_requests_srcunit_tex.sum
// metrics: l1tex__t_sector_hit_rate.pct
// metrics: lts__t_sectors_op_write.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_red.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

static void line(const char* kind, int one, int other, int ctas, int threads) {
  printf("%s %d %d %d %d\n", kind, one, other, ctas, threads);
}

__host__ __device__ uint32_t mix(uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}

enum Mode { kWhole, kParts, kLane, kOneWord };

// Each warp stores `lines` lines in turns, 32 times each: whole ones, two parts that overlap, the first word by one
// lane or by all; its own, or (`shared`) those of all warps of the CTA.
template <class T, Mode mode, bool shared>
__global__ void again(T* out, int lines) {
  const int warp = (blockIdx.x * blockDim.x + (shared ? 0 : threadIdx.x)) / 32, lane = threadIdx.x % 32;
  T* const own = out + size_t(warp) * lines * 32;
  for (int t = 0; t < 32; ++t)
    for (int k = 0; k < lines; ++k) {
      T* const at = own + k * 32;
      if (mode == kWhole) *(volatile T*)(at + lane) = T(t);
      if (mode == kParts && (t % 2 ? lane >= 8 : lane < 24)) *(volatile T*)(at + lane) = T(t);
      if (mode == kLane && lane == 0) *(volatile T*)at = T(t);
      if (mode == kOneWord) *(volatile T*)at = T(t);
    }
}
__global__ void again_wide(uint4* out, int lines) {
  uint4* const own = out + size_t(blockIdx.x * blockDim.x + threadIdx.x) / 32 * lines * 32 + threadIdx.x % 32;
  for (int t = 0; t < 32; ++t)
    for (int k = 0; k < lines; ++k) {
      own[k * 32] = make_uint4(t, k, t, k);
      asm volatile("" ::: "memory");
    }
}
// Reads a word, adds to it and stores it, so often, with so many words of a thread.
__global__ void bump(uint32_t* a, int turns, int words) {
  const uint32_t all = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int t = 0; t < turns; ++t)
#pragma unroll 1
    for (int k = 0; k < words; ++k) {
      a[k * all + i] += 1;
      asm volatile("" ::: "memory");
    }
}

// `same` lanes that follow each other add to one word; the words of a warp follow each other in sectors that lie
// anywhere (`apart` 0), or so many sectors apart.
template <class T>
__global__ void sectors(T* a, uint32_t mask, int turns, int same, int apart) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int t = 0; t < turns; ++t) {
    const uint32_t k = (t * all + i) / same, s = k / 8;
    atomicAdd(a + ((apart ? s * apart : mix(s)) & mask) * 8 + k % 8, T(1));
  }
}

template <Mode mode>
static void stores(uint32_t* a, const char* kind) {
  char name[64];
  for (int threads : {32, 256})
    for (int lines : {1, 2, 4, 8, 16, 24, 48}) {
      if (mode != kWhole && lines != 1 && lines != 4 && lines != 24) continue;
      again<uint32_t, mode, false><<<132, threads>>>(a, lines), line(kind, lines, 0, 132, threads);
    }
  for (int threads : {64, 256, 1024})
    again<uint32_t, mode, true><<<132, threads>>>(a, 1), snprintf(name, sizeof name, "%s_shared", kind), line(name, 1, 0, 132, threads);
}

int main() {
  const size_t room = size_t(64) << 20;
  uint32_t* a;
  CHECK(cudaMalloc(&a, room));
  CHECK(cudaMemset(a, 0, room));
  stores<kWhole>(a, "whole");
  stores<kParts>(a, "parts");
  stores<kLane>(a, "lane");
  stores<kOneWord>(a, "one_word");
  for (int lines : {1, 4, 24}) {
    again<uint8_t, kWhole, false><<<132, 256>>>((uint8_t*)a, lines), line("bytes", lines, 0, 132, 256);
    again_wide<<<132, 256>>>((uint4*)a, lines), line("wide", lines, 0, 132, 256);
  }
  for (int threads : {32, 256, 1024})
    for (int words : {1, 2, 8}) bump<<<132, threads>>>(a, 32, words), line("bump", 32, words, 132, threads);
  const uint32_t mask = (1 << 16) - 1;
  for (int ctas : {1, 8, 33, 132, 264})
    for (int apart : {0, 1, 8, 24, 32})
      for (int same : {1, 2, 4, 8, 16, 32}) {
        sectors<uint32_t><<<ctas, 256>>>(a, mask, 16, same, apart), line("sectors", same, apart, ctas, 256);
        if (ctas == 264 && apart < 2)
          sectors<float><<<264, 256>>>((float*)a, mask, 16, same, apart), line("float_sectors", same, apart, 264, 256);
      }
  CHECK(cudaDeviceSynchronize());
}
