// SPDX-License-Identifier: Apache-2.0
// Loads of few and many lines that hit in L1, each behind the one before, and stores to few and many lines that lie
// apart. Prints a line for each launch: kind, lines of a warp's access, bytes between lines, CTAs, threads. See
// README.md.
// metrics: gpu__time_duration.sum,sm__cycles_active.max,smsp__inst_executed.sum
// metrics: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
// metrics: l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum
// metrics: lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kTurns = 1024;

__device__ int load(const int* p) {
  int v;
  asm volatile("ld.global.s32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ int4 load(const int4* p) {
  int4 v;
  asm volatile("ld.global.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
__device__ void store(int* p, int v) { asm volatile("st.global.s32 [%0], %1;" ::"l"(p), "r"(v)); }

// Where a lane's word is when a warp comes to so many lines: lanes of a line lie side by side.
__device__ size_t place(int lines, int apart, int words) {
  const int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, of_line = 32 / lines;
  return (size_t)(warp * lines + lane / of_line) * apart + lane % of_line * words;
}
__global__ void words(int* a, int lines, int apart) {
  const int* p = a + place(lines, apart, 1);
  int at = 0;
#pragma unroll 1
  for (int k = 0; k < kTurns; ++k) at = load(p + at);
  if (at) *a = at;
}
__global__ void vectors(int* a, int lines, int apart) {
  const int* p = a + place(lines, apart, 4);
  int at = 0;
#pragma unroll 1
  for (int k = 0; k < kTurns; ++k) at = load(reinterpret_cast<const int4*>(p + at)).w;
  if (at) *a = at;
}
// Four loads at once, of the same lines.
__global__ void four(int* a, int lines, int apart) {
  const int* p = a + place(lines, apart, 1);
  int at = 0;
#pragma unroll 1
  for (int k = 0; k < kTurns; ++k) {
    const int x = load(p + at), y = load(p + at + 1), z = load(p + at + 2), w = load(p + at + 3);
    at = x + y + z + w;
  }
  if (at) *a = at;
}
// Each turn the next word of each line's row.
__global__ void stores(int* a, int lines, int apart) {
  int* p = a + place(lines, apart, 1);
#pragma unroll 1
  for (int k = 0; k < kTurns; ++k) store(p + k, 0);  // what is loaded stays zero
}

int main() {
  int* a;
  const size_t room = size_t(1) << 30;
  CHECK(cudaMalloc(&a, room));
  CHECK(cudaMemset(a, 0, room));
  for (int threads : {32, 64, 128, 256})
    for (int ctas : {1, 132})
      for (int lines : {1, 2, 4, 8, 16, 32}) {
        for (int apart : {32, 1056}) {
          words<<<ctas, threads>>>(a, lines, apart), printf("words %d %d %d %d\n", lines, apart * 4, ctas, threads);
          four<<<ctas, threads>>>(a, lines, apart), printf("four %d %d %d %d\n", lines, apart * 4, ctas, threads);
        }
        if (lines >= 4) vectors<<<ctas, threads>>>(a, lines, 32), printf("vectors %d 128 %d %d\n", lines, ctas, threads);
        stores<<<ctas, threads>>>(a, lines, 1056), printf("stores %d 4224 %d %d\n", lines, ctas, threads);
      }
  CHECK(cudaDeviceSynchronize());
}
