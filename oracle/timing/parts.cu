// SPDX-License-Identifier: Apache-2.0
// Lines of L2 that warps read and write in parts: rows of a few words, columns, records field by field. Everything
// stays in L2. Prints a line for each launch: kind, sizes, CTAs, threads. See README.md.
// sass: LDG.E.STRONG.GPU, STG.E, STG.E.U8
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,lts__t_sector_hit_rate.pct,l1tex__t_sector_hit_rate.pct
// metrics: lts__t_requests_srcunit_tex.sum,lts__t_requests.sum,lts__t_tag_requests.sum,lts__t_sectors.sum
// metrics: lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,l1tex__m_xbar2l1tex_read_sectors.sum
// metrics: lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed
// metrics: lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed
// metrics: l1tex__m_l1tex2xbar_req_cycles_active.avg.pct_of_peak_sustained_elapsed
// metrics: dram__bytes_read.sum,dram__bytes_write.sum
// caches: none
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kPitch = 4096;  // words

// A CTA has a tile of `width` words in 256 / `width` rows; a turn is another plane.
template <bool kRead, bool kWrite>
__global__ void rows(const uint32_t* in, uint32_t* out, int width, int offset, int turns, int planes) {
  const int tiles = kPitch / width, high = 256 / width;
  const int x = blockIdx.x % tiles * width + threadIdx.x % width, y = blockIdx.x / tiles * high + threadIdx.x / width;
  const size_t plane = size_t(gridDim.x) / tiles * high * kPitch;
  uint32_t sum = 0;
#pragma unroll 4
  for (int t = 0; t < turns; ++t) {
    const size_t at = t % planes * plane + size_t(y) * kPitch + x;
    uint32_t v = t;
    if (kRead) v = __ldcg(in + at + offset);
    if (kWrite)
      out[at + (kRead ? 0 : offset)] = v;
    else
      sum += v;
  }
  if (!kWrite && sum == 12345) *out = sum;
}

// Each lane has a row: a warp goes along a column.
template <class T, bool kRead, bool kWrite>
__global__ void columns(const T* in, T* out, int turns, int pitch) {
  const int all = gridDim.x * blockDim.x / 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  T sum = 0;
  for (int t = 0; t < turns; ++t) {
    const int k = t * all + warp, x = k % pitch;
    const size_t at = size_t(k / pitch * 32 + threadIdx.x % 32) * pitch + x;
    T v = T(t);
    if (kRead) v = __ldcg(in + at);
    if (kWrite)
      out[at] = v;
    else
      sum += v;
  }
  if (!kWrite && sum == T(77)) *out = sum;
}

// Records of `words` words, of which the first `some` are written one after the other.
template <bool kRead, bool kWrite, int words, int some>
__global__ void fields(const uint32_t* in, uint32_t* out, int turns) {
  const size_t all = size_t(gridDim.x) * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t sum = 0;
  for (int t = 0; t < turns; ++t) {
    uint32_t v[some];
    for (int k = 0; k < some; ++k) v[k] = kRead ? __ldcg(in + (t * all + i) * words + k) : t + k;
    for (int k = 0; k < some; ++k) {
      if (kWrite)
        *(volatile uint32_t*)(out + (t * all + i) * words + k) = v[k];
      else
        sum += v[k];
    }
  }
  if (!kWrite && sum == 12345) *out = sum;
}

// Records of `words` words, word by word, with `gap` cycles or more between stores, and 4000 between records.
template <int words>
__global__ void gaps(uint32_t* out, int turns, int gap) {
  const size_t all = size_t(gridDim.x) * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  auto wait = [](uint32_t cycles) {
    if (cycles)
      for (const uint32_t begin = clock(); static_cast<uint32_t>(clock()) - begin < cycles;) {
      }
  };
  for (int t = 0; t < turns; ++t) {
#pragma unroll
    for (int k = 0; k < words; ++k) {
      *(volatile uint32_t*)(out + (t * all + i) * words + k) = t + k;
      wait(gap);
    }
    wait(4000);
  }
}
template <int words>
void gaps_of(uint32_t* out) {
  for (int warps : {1, 2, 4, 8, 16})
    for (int gap : {0, 50, 200, 800}) gaps<words><<<132, warps * 32>>>(out, 4, gap), printf("gaps %d %d 132 %d\n", words, gap, warps * 32);
}

template <int words, int some>
void records(uint32_t* in, uint32_t* out) {
  const int turns = 2, ctas = (4 << 20) / words / 256 / turns;  // 16 MiB
  fields<true, false, words, some><<<ctas, 256>>>(in, out, turns), printf("fields_read %d %d %d 256\n", words, some, ctas);
  fields<false, true, words, some><<<ctas, 256>>>(in, out, turns), printf("fields_write %d %d %d 256\n", words, some, ctas);
  fields<true, true, words, some><<<ctas, 256>>>(in, out, turns), printf("fields_copy %d %d %d 256\n", words, some, ctas);
}

template <class T>
void ways(const char* name, void* in, void* out) {
  for (int pitch : {512, 2048}) {
    const int turns = 16, ctas = 528;
    const T* i = static_cast<T*>(in);
    T* o = static_cast<T*>(out);
    columns<T, true, false><<<ctas, 256>>>(i, o, turns, pitch), printf("columns_read_%s %d %d %d 256\n", name, pitch, turns, ctas);
    columns<T, false, true><<<ctas, 256>>>(i, o, turns, pitch), printf("columns_write_%s %d %d %d 256\n", name, pitch, turns, ctas);
    columns<T, true, true><<<ctas, 256>>>(i, o, turns, pitch), printf("columns_copy_%s %d %d %d 256\n", name, pitch, turns, ctas);
  }
}

int main() {
  const size_t room = size_t(24) << 20;
  char *a, *b;
  CHECK(cudaMalloc(&a, room));
  CHECK(cudaMalloc(&b, room));
  CHECK(cudaMemset(a, 0, room));
  CHECK(cudaMemset(b, 0, room));
  uint32_t *in = reinterpret_cast<uint32_t*>(a), *out = reinterpret_cast<uint32_t*>(b);
  for (int width : {2, 4, 8, 16, 32, 64})
    for (int offset : {0, 1, 4}) {
      const int ctas = 2048, turns = 32, planes = 8;  // 16 MiB, four times
      rows<true, false><<<ctas, 256>>>(in, out, width, offset, turns, planes), printf("rows_read %d %d %d 256\n", width, offset, ctas);
      rows<false, true><<<ctas, 256>>>(in, out, width, offset, turns, planes), printf("rows_write %d %d %d 256\n", width, offset, ctas);
      rows<true, true><<<ctas, 256>>>(in, out, width, offset, turns, planes), printf("rows_copy %d %d %d 256\n", width, offset, ctas);
    }
  ways<uint8_t>("1", a, b);
  ways<uint32_t>("4", a, b);
  records<2, 1>(in, out), records<2, 2>(in, out), records<3, 1>(in, out), records<3, 3>(in, out), records<4, 4>(in, out);
  records<5, 1>(in, out), records<5, 2>(in, out), records<5, 5>(in, out), records<7, 7>(in, out), records<8, 1>(in, out), records<8, 8>(in, out);
  gaps_of<2>(out), gaps_of<4>(out), gaps_of<8>(out), gaps_of<16>(out);
  CHECK(cudaDeviceSynchronize());
}
