// SPDX-License-Identifier: Apache-2.0
// How CTAs that are on a multiprocessor together share it: each warp does the same arithmetic, and all begin at
// about the same time. Prints a line for each: what, threads of a CTA, and when each CTA of the first multiprocessor
// ended, in the order in which they began, as a part of the time to the last one's end.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kTurns = 2000;
enum What { Floats, Integers, Roots, kWhats };
constexpr const char* kNames[] = {"floats", "integers", "roots"};

template <int kWhat>
__device__ void turn(float (&f)[4], uint32_t (&i)[4], float x, uint32_t u) {
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    if constexpr (kWhat == Floats) f[k % 4] = f[k % 4] * x + x;
    if constexpr (kWhat == Integers) i[k % 4] = (i[k % 4] * u + k) ^ i[(k + 1) % 4];
    if constexpr (kWhat == Roots) f[k % 4] = __frsqrt_rn(f[k % 4] + x);
  }
}

struct Span {
  long long begin, end;
  uint32_t sm;
};

template <int kWhat>
__global__ void work(Span* spans, float* out, float x, uint32_t u) {
  float f[4];
  uint32_t i[4], sm;
  for (int k = 0; k < 4; ++k) f[k] = x + k + threadIdx.x, i[k] = u * k + threadIdx.x;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  const long long begin = clock64();
#pragma unroll 1
  for (int t = 0; t < kTurns; ++t) turn<kWhat>(f, i, x, u);
  const long long end = clock64();
  if (f[0] + f[1] + f[2] + f[3] + float(i[0] + i[1] + i[2] + i[3]) == 12345.f) *out = x;
  if (threadIdx.x % 32 == 0) spans[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {begin, end, sm};
}

template <int kWhat>
int line(int threads, int sms, Span* spans, float* out) {
  const int ctas = sms * 2048 / threads, warps = threads / 32;
  for (int pass = 0; pass < 2; ++pass) work<kWhat><<<ctas, threads>>>(spans, out, 0.5f, 3);
  std::vector<Span> all(ctas * warps);
  CHECK(cudaMemcpy(all.data(), spans, all.size() * sizeof(Span), cudaMemcpyDeviceToHost));
  std::vector<std::pair<long long, long long>> here;
  for (int c = 0; c < ctas; ++c) {
    if (all[c * warps].sm != all[0].sm) continue;
    here.push_back({all[c * warps].begin, 0});
    for (int w = 0; w < warps; ++w) here.back().second = std::max(here.back().second, all[c * warps + w].end);
  }
  std::sort(here.begin(), here.end());
  long long last = 0;
  for (const auto& [begin, end] : here) last = std::max(last, end);
  printf("%s %d |", kNames[kWhat], threads);
  for (const auto& [begin, end] : here) printf(" %.2f", double(end - here[0].first) / double(last - here[0].first));
  printf("\n");
  return 0;
}

int main() {
  int sms;
  Span* spans;
  float* out;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaMalloc(&spans, sms * 64 * sizeof(Span)));
  CHECK(cudaMalloc(&out, 4));
  for (const int threads : {1024, 512, 256, 128})
    if (line<Floats>(threads, sms, spans, out) || line<Integers>(threads, sms, spans, out) ||
        line<Roots>(threads, sms, spans, out))
      return 1;
  return 0;
}
