// SPDX-License-Identifier: Apache-2.0
// Lines that several CTAs read with other work between: `sharers` CTAs, that follow each other (next) or lie a part of
// the grid apart (apart), read the same rows of words from DRAM, one after the other, and compute `work` times eight
// sums and products for each; `tiles`: through shared memory, with a barrier before and behind it. Prints a line for
// each launch: kind, work, sharers, CTAs. See README.md.
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,smsp__inst_executed.sum
// metrics: lts__t_requests_srcunit_tex.sum,lts__t_sectors_op_read.sum,lts__t_sectors_lookup_miss.sum
// metrics: dram__bytes_read.sum
// metrics: smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio
// metrics: smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio
// caches: all
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kThreads = 256;

__device__ int part_of(int sharers, bool next) { return next ? blockIdx.x / sharers : blockIdx.x % (gridDim.x / sharers); }

__device__ void compute(float (&sum)[8], float a, float b, int work) {
#pragma unroll 1
  for (int w = 0; w < work; ++w)
#pragma unroll
    for (float& s : sum) s = s * a + b;
}
__device__ void keep(const float (&sum)[8], float* out) {
  float all = 0;
  for (float s : sum) all += s;
  if (all == 12345.f) *out = all;
}

__global__ void rows(const float* in, float* out, int rows, int work, int sharers, bool next) {
  const float* const own = in + size_t(part_of(sharers, next)) * rows * kThreads + threadIdx.x;
  float sum[8] = {};
#pragma unroll 1
  for (int r = 0; r < rows; ++r) {
    const float v = own[r * kThreads];
    compute(sum, v, v, work);
    sum[0] += v;
  }
  keep(sum, out);
}

__global__ void tiles(const float* in, float* out, int rows, int work, int sharers, bool next) {
  __shared__ float tile[kThreads];
  const float* const own = in + size_t(part_of(sharers, next)) * rows * kThreads + threadIdx.x;
  float sum[8] = {};
#pragma unroll 1
  for (int r = 0; r < rows; ++r) {
    __syncthreads();
    tile[threadIdx.x] = own[r * kThreads];
    __syncthreads();
    compute(sum, tile[threadIdx.x ^ 33], tile[threadIdx.x ^ 65], work);
    sum[0] += tile[threadIdx.x ^ 1];
  }
  keep(sum, out);
}

template <class Kernel>
static void of(const char* kind, Kernel kernel, const float* in, float* out) {
  for (int ctas : {132, 528})
    for (int work : {0, 4, 16}) {
      const int n = int((size_t(16) << 20) / (ctas * kThreads * 4));
      for (int sharers : {1, 4, 12, 66})
        for (bool next : {true, false}) {
          if (sharers == 1 && !next) continue;
          kernel<<<ctas, kThreads>>>(in, out, n, work, sharers, next);
          printf("%s_%s %d %d %d\n", kind, next ? "next" : "apart", work, sharers, ctas);
        }
    }
}

int main() {
  float *in, *out;
  CHECK(cudaMalloc(&in, size_t(64) << 20));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMemset(in, 0, size_t(64) << 20));
  of("rows", rows, in, out), of("tiles", tiles, in, out);
  CHECK(cudaDeviceSynchronize());
}
