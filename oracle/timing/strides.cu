// SPDX-License-Identifier: Apache-2.0
// Each thread goes along a row of its own, word by word: the lanes of a warp touch 32 lines at a time, each again and
// again; or it stores words anywhere in so many bytes. Prints a line for each launch: kind, words of a row or bytes,
// CTAs, threads. See README.md.
// sass: LDG.E, STG.E
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,lts__t_sector_hit_rate.pct,l1tex__t_sector_hit_rate.pct
// metrics: lts__t_requests_srcunit_tex.sum,lts__t_requests.sum,lts__t_tag_requests.sum,lts__t_sectors.sum
// metrics: lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,l1tex__m_xbar2l1tex_read_sectors.sum
// metrics: lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed
// metrics: lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed
// metrics: l1tex__m_l1tex2xbar_req_cycles_active.avg.pct_of_peak_sustained_elapsed
// metrics: dram__bytes_read.sum,dram__bytes_write.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

template <bool kRead, bool kWrite, int kUnroll>
__global__ void rows(const uint32_t* __restrict__ in, uint32_t* __restrict__ out, int words) {
  const size_t at = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * words;
  uint32_t sum = 0;
#pragma unroll kUnroll
  for (int k = 0; k < words; ++k) {
    uint32_t v = k;
    if (kRead) v = in[at + k];
    if (kWrite)
      out[at + k] = v + 1;
    else
      sum += v;
  }
  if (!kWrite && sum == 12345) *out = sum;
}

// Words anywhere in `mask` + 1 words.
__global__ void anywhere(uint32_t* out, uint32_t mask, int turns) {
  uint32_t r = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345;
  for (int k = 0; k < turns; ++k) r = r * 1664525u + 1013904223u, out[(r >> 4) & mask] = k;
}

template <int kUnroll>
void of(const uint32_t* in, uint32_t* out, int words, int ctas, int threads) {
  rows<true, false, kUnroll><<<ctas, threads>>>(in, out, words), printf("read_by_%d %d %d %d\n", kUnroll, words, ctas, threads);
  rows<false, true, kUnroll><<<ctas, threads>>>(in, out, words), printf("write_by_%d %d %d %d\n", kUnroll, words, ctas, threads);
  rows<true, true, kUnroll><<<ctas, threads>>>(in, out, words), printf("copy_by_%d %d %d %d\n", kUnroll, words, ctas, threads);
}

int main() {
  const size_t room = size_t(160) << 20;
  uint32_t *in, *out;
  CHECK(cudaMalloc(&in, room));
  CHECK(cudaMalloc(&out, room));
  CHECK(cudaMemset(in, 0, room));
  CHECK(cudaMemset(out, 0, room));
  const int shapes[][3] = {{1000, 20, 256}, {1000, 132, 32}, {1000, 132, 256}, {1024, 132, 256}, {250, 528, 256}, {5000, 20, 256}, {5000, 132, 32}, {64, 528, 256}, {16, 2048, 256}};
  for (const auto& s : shapes) of<1>(in, out, s[0], s[1], s[2]), of<4>(in, out, s[0], s[1], s[2]);
  for (int shift : {14, 18, 20, 22, 24})
    for (int ctas : {1, 20, 66, 132}) anywhere<<<ctas, 256>>>(out, (1u << (shift - 2)) - 1, 512), printf("anywhere %d %d 256\n", 1 << shift, ctas);
  CHECK(cudaDeviceSynchronize());
}
