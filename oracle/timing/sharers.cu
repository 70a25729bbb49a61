// SPDX-License-Identifier: Apache-2.0
// Lines that several CTAs read: `sharers` CTAs behind each other read the same rows of words from DRAM, in registers
// with `flight` loads under way, each CTA `lag` products one behind the other later than the one before it, or by
// cp.async into a ring of `flight` stages. Prints a line for each launch: kind, bytes a thread reads at a time, flight,
// sharers, lag, CTAs. See README.md.
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,smsp__inst_executed.sum
// metrics: lts__t_sectors_op_read.sum,lts__t_sector_hit_rate.pct,lts__t_requests_srcunit_tex.sum
// metrics: lts__t_sectors_lookup_miss.sum
// metrics: lts__t_sectors_srcunit_ltcfabric.sum,lts__t_tag_requests_miss.sum,dram__bytes_read.sum
// metrics: smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio
// caches: all
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kThreads = 256;

__device__ uint32_t word(uint32_t v) { return v; }
__device__ uint32_t word(uint4 v) { return v.x ^ v.w; }

__device__ uint32_t late(int sharers, int lag) {
  uint32_t v = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < lag * int(blockIdx.x % sharers); ++i) asm volatile("mad.lo.u32 %0, %0, 77, 1;" : "+r"(v));
  return v;
}

template <class T, int flight>
__global__ void registers(const T* in, uint32_t* out, int rows, int sharers, int lag) {
  const T* const own = in + size_t(blockIdx.x / sharers) * rows * kThreads + threadIdx.x;
  uint32_t sum = late(sharers, lag);
#pragma unroll 1
  for (int r = 0; r < rows; r += flight) {
    T v[flight];
#pragma unroll
    for (int f = 0; f < flight; ++f) v[f] = own[(r + f) * kThreads];
#pragma unroll
    for (int f = 0; f < flight; ++f) sum += word(v[f]);
  }
  if (sum == 12345) out[blockIdx.x] = sum;
}

template <class T, int stages>
__global__ void copies(const T* in, uint32_t* out, int rows, int sharers, int lag) {
  __shared__ T ring[stages][kThreads];
  const T* const own = in + size_t(blockIdx.x / sharers) * rows * kThreads + threadIdx.x;
  uint32_t sum = late(sharers, lag);
  const auto bring = [&](int r) {
    if (r < rows) __pipeline_memcpy_async(&ring[r % stages][threadIdx.x], own + r * kThreads, sizeof(T));
    __pipeline_commit();
  };
  for (int r = 0; r < stages - 1; ++r) bring(r);
#pragma unroll 1
  for (int r = 0; r < rows; ++r) {
    bring(r + stages - 1);
    __pipeline_wait_prior(stages - 1);
    __syncthreads();
    sum += word(ring[r % stages][threadIdx.x ^ 1]);
    __syncthreads();
  }
  if (sum == 12345) out[blockIdx.x] = sum;
}

template <class T, int flight, class Kernel>
static void of(const char* kind, Kernel kernel, const void* in, uint32_t* out, int sharers, int lag, int ctas) {
  const int rows = int((size_t(64) << 20) / (ctas * kThreads * sizeof(T))) / 8 * 8;
  kernel<<<ctas, kThreads>>>(static_cast<const T*>(in), out, rows, sharers, lag);
  printf("%s %d %d %d %d %d\n", kind, int(sizeof(T)), flight, sharers, lag, ctas);
}

template <class T, int flight>
static void in_registers(const void* in, uint32_t* out) {
  for (int ctas : {132, 528})
    for (int sharers : {1, 2, 4, 33, 132})
      for (int lag : {0, 150, 1000})
        if (lag == 0 || sharers == 2 || sharers == 4) of<T, flight>("registers", registers<T, flight>, in, out, sharers, lag, ctas);
}
template <class T, int stages>
static void by_copies(const void* in, uint32_t* out) {
  for (int ctas : {132, 528, 1056})
    for (int sharers : {1, 2, 4}) of<T, stages>("copies", copies<T, stages>, in, out, sharers, 0, ctas);
}

int main() {
  void* in;
  uint32_t* out;
  CHECK(cudaMalloc(&in, size_t(64) << 20));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMemset(in, 0, size_t(64) << 20));
  in_registers<uint32_t, 1>(in, out), in_registers<uint32_t, 4>(in, out);
  in_registers<uint4, 1>(in, out), in_registers<uint4, 4>(in, out);
  by_copies<uint32_t, 2>(in, out), by_copies<uint32_t, 4>(in, out), by_copies<uint4, 3>(in, out);
  CHECK(cudaDeviceSynchronize());
}
