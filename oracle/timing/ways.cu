// SPDX-License-Identifier: Apache-2.0
// Loads and stores of shared memory with few and many conflicts of banks: one behind the other, and four at once.
// Prints a line for each launch: kind, ways, CTAs, threads. See README.md.
// metrics: gpu__time_duration.sum,sm__cycles_active.max,smsp__inst_executed.sum
// metrics: l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,l1tex__lsu_writeback_active.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kTurns = 1024;

extern __shared__ int4 room[];

__device__ unsigned at_ways(int ways) { return __cvta_generic_to_shared(room) + threadIdx.x % 32 * ways * 4; }
__device__ int load(unsigned p) {
  int v;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(p));
  return v;
}
__device__ int4 load4(unsigned p) {
  int4 v;
  asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(p));
  return v;
}
__device__ void clear() {
  for (int k = threadIdx.x; k < 2048; k += blockDim.x) reinterpret_cast<int*>(room)[k] = 0;
  __syncthreads();
}
__global__ void chain(int* out, int ways) {
  clear();
  const unsigned p = at_ways(ways);
  int at = 0;
#pragma unroll 1
  for (int k = 0; k < kTurns; ++k) at = load(p + at);
  if (at) *out = at;
}
__global__ void four(int* out, int ways) {
  clear();
  const unsigned p = at_ways(ways);
  int at = 0;
#pragma unroll 1
  for (int k = 0; k < kTurns; ++k) {
    const int x = load(p + at), y = load(p + at + 4), z = load(p + at + 8), w = load(p + at + 12);
    at = x + y + z + w;
  }
  if (at) *out = at;
}
// 16 bytes a lane, side by side.
__global__ void vectors(int* out, int) {
  clear();
  const unsigned p = at_ways(4);
  int at = 0;
#pragma unroll 1
  for (int k = 0; k < kTurns; ++k) {
    const int4 x = load4(p + at), y = load4(p + at + 512), z = load4(p + at + 1024), w = load4(p + at + 1536);
    at = x.x + y.y + z.z + w.w;
  }
  if (at) *out = at;
}
// What is stored is loaded.
__global__ void passed(int* out, int ways) {
  clear();
  const unsigned p = at_ways(ways);
  int at = 0;
#pragma unroll 1
  for (int k = 0; k < kTurns; ++k) {
    asm volatile("st.shared.s32 [%0], %1;" ::"r"(p), "r"(at));
    at = load(p);
  }
  if (at) *out = at;
}
// Nothing waits for another.
__global__ void streams(int* out, int ways) {
  clear();
  const unsigned p = at_ways(ways);
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < kTurns; k += 8) {
    int v[8];
#pragma unroll
    for (int n = 0; n < 8; ++n) v[n] = load(p + (k & 8) * 4 + n * 4);
#pragma unroll
    for (int n = 0; n < 8; ++n) sum += v[n];
  }
  if (sum) *out = sum;
}

int main() {
  int* out;
  CHECK(cudaMalloc(&out, 4));
  for (int threads : {32, 64, 128, 256, 512})
    for (int ctas : {1, 132}) {
      for (int ways : {1, 2, 4, 8, 16, 32}) {
        chain<<<ctas, threads, 8192>>>(out, ways), printf("chain %d %d %d\n", ways, ctas, threads);
        four<<<ctas, threads, 8192>>>(out, ways), printf("four %d %d %d\n", ways, ctas, threads);
        passed<<<ctas, threads, 8192>>>(out, ways), printf("passed %d %d %d\n", ways, ctas, threads);
        streams<<<ctas, threads, 8192>>>(out, ways), printf("streams %d %d %d\n", ways, ctas, threads);
      }
      vectors<<<ctas, threads, 8192>>>(out, 4), printf("vectors 4 %d %d\n", ctas, threads);
    }
  CHECK(cudaDeviceSynchronize());
}
