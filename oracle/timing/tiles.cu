// SPDX-License-Identifier: Apache-2.0
// Tiles of arrays that do not fit in L2: a CTA has a tile of `width` words in 512 / `width` rows, of one plane after
// the other or of one plane each, `stages` of them under way; a barrier between planes or none. Prints a line for
// each launch: kind, width, stages, barrier, CTAs, threads. See README.md.
// sass: LDG.E, STG.E
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,lts__t_sector_hit_rate.pct,l1tex__t_sector_hit_rate.pct
// metrics: dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum
// metrics: lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed,lts__t_requests_srcunit_tex.sum
// metrics: smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio
// metrics: smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio
// metrics: smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio
// metrics: sm__warps_active.avg.pct_of_peak_sustained_active
// caches: all
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kWidth = 1024, kHeight = 512, kPlanes = 32;

template <int kStages, bool kBarrier, bool kWrite>
__global__ void planes(const float* in, float* out, int width) {
  const int tiles = kWidth / width, high = 512 / width;
  const int x = blockIdx.x % tiles * width + threadIdx.x % width, y = blockIdx.x / tiles * high + threadIdx.x / width;
  const size_t at = size_t(y) * kWidth + x, plane = size_t(kWidth) * kHeight;
  float sum = 0;
  for (int z = 0; z < kPlanes; z += kStages) {
    float v[kStages];
#pragma unroll
    for (int s = 0; s < kStages; ++s) v[s] = in[(z + s) * plane + at];
    if (kBarrier) __syncthreads();
#pragma unroll
    for (int s = 0; s < kStages; ++s) {
      if (kWrite)
        out[(z + s) * plane + at] = v[s] + 1;
      else
        sum += v[s];
    }
    if (kBarrier) __syncthreads();
  }
  if (!kWrite && sum == 12345) *out = sum;
}

// Each CTA has one tile of one plane.
template <bool kWrite>
__global__ void once(const float* in, float* out, int width) {
  const int tiles = kWidth / width, high = 512 / width;
  const int x = blockIdx.x % tiles * width + threadIdx.x % width, y = blockIdx.x / tiles * high + threadIdx.x / width;
  const size_t at = size_t(blockIdx.y) * kWidth * kHeight + size_t(y) * kWidth + x;
  const float v = in[at];
  if (kWrite)
    out[at] = v + 1;
  else if (v == 12345)
    *out = v;
}

template <int kStages, bool kBarrier, bool kWrite>
void planes_of(const float* in, float* out, int width) {
  planes<kStages, kBarrier, kWrite><<<1024, 512>>>(in, out, width);
  printf("planes_%s %d %d %d 1024 512\n", kWrite ? "copy" : "read", width, kStages, kBarrier);
}

int main() {
  const size_t bytes = size_t(kWidth) * kHeight * kPlanes * 4;
  float *in, *out;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemset(in, 0, bytes));
  CHECK(cudaMemset(out, 0, bytes));
  for (int width : {16, 32, 64, 128, 512}) {
    planes_of<1, false, false>(in, out, width), planes_of<1, true, false>(in, out, width);
    planes_of<1, false, true>(in, out, width), planes_of<1, true, true>(in, out, width);
    planes_of<2, true, false>(in, out, width), planes_of<2, true, true>(in, out, width);
    planes_of<4, true, false>(in, out, width), planes_of<4, true, true>(in, out, width);
    once<false><<<dim3(1024, kPlanes), 512>>>(in, out, width), printf("once_read %d 1 0 32768 512\n", width);
    once<true><<<dim3(1024, kPlanes), 512>>>(in, out, width), printf("once_copy %d 1 0 32768 512\n", width);
  }
  CHECK(cudaDeviceSynchronize());
}
