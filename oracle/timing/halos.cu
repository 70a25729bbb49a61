// SPDX-License-Identifier: Apache-2.0
// Tiles with rows of their neighbours, plane after plane, through shared memory: a CTA has 8 rows of 64 words and
// `halo` rows above and below. Fetched in registers, one load after the other or both at a time, or by cp.async, with
// `stages` planes under way; `work` reads 2 * halo + 1 words of shared memory for each word, otherwise one; `write`
// stores a word for each. Then copies of 4 to 16 bytes a thread from L2 into shared memory, by cp.async or through
// registers. Prints a line for each launch: kind, halo or bytes, stages or copies, work, write, CTAs. See README.md.
// sass: LDG.E, STG.E, LDGSTS.E, LDS, STS
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,lts__t_sector_hit_rate.pct,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum
// metrics: dram__bytes_read.sum,dram__bytes_write.sum,l1tex__data_pipe_lsu_wavefronts.sum,l1tex__lsuin_requests.sum
// metrics: smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio
// metrics: smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio
// metrics: smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio
// metrics: smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio
// metrics: smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio
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

constexpr int kX = 64, kY = 8, kWidth = 1024, kHeight = 512, kPlanes = 32;

enum How { kInTurn, kTogether, kAsync };

template <int kHalo>
struct Tile {
  float at[kY + 2 * kHalo][kX];
};

template <How how, int kHalo>
__device__ void fetch(Tile<kHalo>& t, const float* plane) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const float* const own = plane + (blockIdx.y * kY + ty) * kWidth + blockIdx.x * kX + tx;
  const bool above = ty < kHalo, outer = above || ty >= kY - kHalo;
  const int by = above ? -kHalo : kHalo;
  float* const to = &t.at[ty + kHalo][tx];
  if (how == kAsync) {
    __pipeline_memcpy_async(to, own, 4);
    if (kHalo && outer) __pipeline_memcpy_async(to + by * kX, own + by * kWidth, 4);
  } else if (how == kTogether) {
    const float v = *own, w = kHalo && outer ? own[by * kWidth] : 0;
    *to = v;
    if (kHalo && outer) to[by * kX] = w;
  } else {
    *const_cast<volatile float*>(to) = *own;
    __syncwarp();
    if (kHalo && outer) const_cast<volatile float*>(to)[by * kX] = own[by * kWidth];
  }
}

template <How how, int kHalo, int kStages, bool kWork, bool kWrite>
__global__ void __launch_bounds__(512) halos(const float* in, float* out) {
  __shared__ Tile<kHalo> tiles[kStages];
  const size_t plane = size_t(kWidth) * kHeight;
  const auto bring = [&](int z) {
    if (z < kPlanes) fetch<how>(tiles[z % kStages], in + z * plane);
    if (how == kAsync) __pipeline_commit();
  };
  float all = 0;
  for (int z = 0; z < kStages - 1; ++z) bring(z);
  for (int z = 0; z < kPlanes; ++z) {
    bring(z + kStages - 1);
    if (how == kAsync) __pipeline_wait_prior(kStages - 1);
    __syncthreads();
    const Tile<kHalo>& t = tiles[z % kStages];
    float sum = t.at[threadIdx.y + kHalo][threadIdx.x];
#pragma unroll
    for (int r = 1; r <= (kWork ? kHalo : 0); ++r)
      sum += t.at[threadIdx.y + kHalo - r][threadIdx.x] * (1.0f / (r + 1)) + t.at[threadIdx.y + kHalo + r][threadIdx.x] * (1.0f / (r + 2));
    if (kWrite)
      out[z * plane + (blockIdx.y * kY + threadIdx.y) * kWidth + blockIdx.x * kX + threadIdx.x] = sum;
    else
      all += sum;
    __syncthreads();
  }
  if (!kWrite && all == 12345) *out = all;
}

// Each thread copies the same words again and again, `kCopies` under way.
template <class T, bool kAsync, int kCopies>
__global__ void __launch_bounds__(256) copies(const T* in, float* out, int turns) {
  __shared__ __align__(16) char to[sizeof(T) * 256 * kCopies];
  T* const mine = reinterpret_cast<T*>(to) + threadIdx.x;
  const T* const from = in + blockIdx.x * size_t(256) * kCopies + threadIdx.x;
  for (int t = 0; t < turns; ++t) {
    T v[kCopies];
#pragma unroll
    for (int k = 0; k < kCopies; ++k) {
      if (kAsync)
        __pipeline_memcpy_async(mine + k * 256, from + k * 256, sizeof(T));
      else
        v[k] = __ldcg(from + k * 256);
    }
    if (kAsync) __pipeline_commit(), __pipeline_wait_prior(0);
#pragma unroll
    for (int k = 0; k < kCopies && !kAsync; ++k) *const_cast<volatile unsigned*>(reinterpret_cast<unsigned*>(mine + k * 256)) = reinterpret_cast<unsigned&>(v[k]);
    __syncwarp();
  }
  if (reinterpret_cast<volatile float*>(to)[threadIdx.x] == 12345) *out = 1;
}

const float* in;
float* out;

template <How how, int kHalo, int kStages, bool kWork, bool kWrite>
void one() {
  halos<how, kHalo, kStages, kWork, kWrite><<<dim3(kWidth / kX, kHeight / kY), dim3(kX, kY)>>>(in, out);
  printf("%s %d %d %d %d 1024\n", how == kAsync ? "async" : how == kTogether ? "together" : "in_turn", kHalo, kStages, kWork, kWrite);
}

template <How how, int kHalo, int kStages = 1>
void all() {
  one<how, kHalo, kStages, false, false>(), one<how, kHalo, kStages, false, true>();
  one<how, kHalo, kStages, true, false>(), one<how, kHalo, kStages, true, true>();
}

template <class T, bool kAsync, int kCopies>
void copy() {
  for (int ctas : {1, 132, 528, 1056}) {
    copies<T, kAsync, kCopies><<<ctas, 256>>>(reinterpret_cast<const T*>(in), out, 128);
    printf("copies_%s %d %d 0 0 %d\n", kAsync ? "async" : "registers", int(sizeof(T)), kCopies, ctas);
  }
}

template <class T, bool kAsync>
void copies_of() {
  copy<T, kAsync, 1>(), copy<T, kAsync, 2>(), copy<T, kAsync, 4>(), copy<T, kAsync, 8>();
}

int main() {
  const size_t bytes = size_t(kWidth) * (kHeight * kPlanes + 16) * 4;
  float* base;
  CHECK(cudaMalloc(&base, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemset(base, 0, bytes));
  CHECK(cudaMemset(out, 0, bytes));
  in = base + 8 * kWidth;
  one<kTogether, 0, 1, false, false>(), one<kTogether, 0, 1, false, true>(), one<kAsync, 0, 1, false, false>(), one<kAsync, 0, 1, false, true>();
  one<kAsync, 0, 2, false, false>(), one<kAsync, 0, 2, false, true>(), one<kAsync, 0, 3, false, false>(), one<kAsync, 0, 3, false, true>();
  all<kInTurn, 4>(), all<kTogether, 4>(), all<kAsync, 4>(), all<kAsync, 4, 2>(), all<kAsync, 4, 3>();
  one<kTogether, 1, 1, true, true>(), one<kTogether, 2, 1, true, true>(), one<kAsync, 1, 2, true, true>(), one<kAsync, 2, 2, true, true>();
  copies_of<float, true>(), copies_of<float2, true>(), copies_of<float4, true>(), copies_of<float, false>();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return 0;
}
