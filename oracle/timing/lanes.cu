// SPDX-License-Identifier: Apache-2.0
// Each lane walks through a row of its own: what it reads, changes in place or writes elsewhere, so many words at a
// time. Prints a line for each launch: kind, words at a time, bytes between rows, CTAs, threads. See README.md.
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

constexpr int kWords = 1024;  // of a row

// Weak accesses that stay where they stand.
__device__ float load(const float* p) {
  float v;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}
__device__ void store(float* p, float v) { asm volatile("st.global.f32 [%0], %1;" ::"l"(p), "f"(v)); }

enum Kind { Read, InPlace, Elsewhere, Behind };

// In place: the words just read. Behind: those of the turn before. Each turn needs the sum so far.
template <int What, int N>
__global__ void walk(float* a, float* b, int row) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float *const p = a + (size_t)i * row, *const q = b + (size_t)i * row;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < kWords; k += N) {
    float v[N];
#pragma unroll
    for (int n = 0; n < N; ++n) v[n] = load(p + k + n);
#pragma unroll
    for (int n = 0; n < N; ++n) sum = sum * 0.5f + v[n];
#pragma unroll
    for (int n = 0; n < N; ++n) {
      if (What == InPlace) store(p + k + n, sum + n);
      if (What == Elsewhere) store(q + k + n, sum + n);
      if (What == Behind && k) store(p + k + n - N, sum + n);
    }
  }
  if (What == Read) q[0] = sum;
}
// The same words again and again: read, changed, and what was stored is read.
template <int What>
__global__ void again(float* a, float* b, int row) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* const p = a + (size_t)i * row;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < kWords; ++k) {
    sum = sum * 0.5f + load(p + (k & 1));
    if (What == InPlace) store(p + (k & 1), sum);
    if (What == Behind) store(p + (k + 1 & 1), sum);
    if (What == Elsewhere) store(b + (size_t)i * row, sum);
  }
  b[(size_t)i * row + 1] = sum;
}

static void line(const char* kind, int n, int row, int ctas, int threads) {
  printf("%s %d %d %d %d\n", kind, n, row * 4, ctas, threads);
}

int main() {
  float *a, *b;
  const size_t room = size_t(256) << 20;
  CHECK(cudaMalloc(&a, room));
  CHECK(cudaMalloc(&b, room));
  CHECK(cudaMemset(a, 0, room));
  CHECK(cudaMemset(b, 0, room));
  const int shapes[][2] = {{1, 32}, {1, 64}, {32, 64}, {132, 128}};
  for (const auto& s : shapes)
    for (int row : {1024, 2048}) {
#define WALK(kind, n) walk<kind, n><<<s[0], s[1]>>>(a, b, row), line(#kind, n, row, s[0], s[1])
      WALK(Read, 1), WALK(Read, 4), WALK(InPlace, 1), WALK(InPlace, 2), WALK(InPlace, 4), WALK(InPlace, 8);
      WALK(Elsewhere, 1), WALK(Elsewhere, 4), WALK(Behind, 1), WALK(Behind, 4);
    }
  for (int row : {1, 32, 1024})
    for (const auto& s : shapes) {
#define AGAIN(kind) again<kind><<<s[0], s[1]>>>(a, b, row), line("again_" #kind, 1, row, s[0], s[1])
      AGAIN(Read), AGAIN(InPlace), AGAIN(Behind), AGAIN(Elsewhere);
    }
  CHECK(cudaDeviceSynchronize());
}
