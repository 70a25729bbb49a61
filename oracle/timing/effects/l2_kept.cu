// SPDX-License-Identifier: Apache-2.0
// How much of what launches read and wrote the next ones find in L2: the same launch again and again, on 4 to
// 128 MiB in all. Time of one launch of ten, behind three others.
#include <cstdint>

#include "effects.h"

using Words = uint4;

__global__ void reads(const Words* a, size_t n, uint32_t* out) {
  uint32_t v = 0;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    const Words w = a[i];
    v += w.x ^ w.y ^ w.z ^ w.w;
  }
  if (v == 0x9e3779b9u) *out = v;
}
// One element a thread.
__global__ void copies(const Words* a, Words* b) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  b[i] = a[i];
}
__global__ void updates(Words* a) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  Words w = a[i];
  ++w.x;
  a[i] = w;
}
__global__ void adds(const float4* a, const float4* b, float4* c) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const float4 x = a[i], y = b[i], z = c[i];
  c[i] = make_float4(x.x + y.x + z.x, x.y + y.y + z.y, x.z + y.z + z.z, x.w + y.w + z.w);
}

int main(int argc, char** argv) {
  arguments(argc, argv);
  constexpr size_t kMost = 128 << 20;
  char* m;
  uint32_t* out;
  MUST(cudaMalloc(&m, kMost)), MUST(cudaMalloc(&out, 4));
  MUST(cudaMemset(m, 1, kMost));
  cudaEvent_t begin, end;
  MUST(cudaEventCreate(&begin)), MUST(cudaEventCreate(&end));
  const auto time = [&](const std::string& name, auto&& launch) {
    constexpr int kLaunches = 10;
    for (int k = 0; k < 3; ++k) launch(k);
    MUST(cudaEventRecord(begin));
    for (int k = 0; k < kLaunches; ++k) launch(k + 1);
    MUST(cudaEventRecord(end));
    MUST(cudaDeviceSynchronize());
    float ms;
    MUST(cudaEventElapsedTime(&ms, begin, end));
    tell(name, ms * 1000 / kLaunches);
  };
  for (const size_t mib : {4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 64, 80, 96, 128}) {
    const size_t all = mib << 20, words = all / sizeof(Words);
    const std::string of = "_" + std::to_string(mib);
    Words* w = reinterpret_cast<Words*>(m);
    time("reads" + of, [&](int) { reads<<<1056, 256>>>(w, words, out); });
    time("copies" + of, [&](int) { copies<<<words / 2 / 256, 256>>>(w, w + words / 2); });
    time("swaps" + of, [&](int k) { copies<<<words / 2 / 256, 256>>>(k % 2 ? w + words / 2 : w, k % 2 ? w : w + words / 2); });
    time("updates" + of, [&](int) { updates<<<words / 256, 256>>>(w); });
    const size_t third = words / 4;  // three quarters of it are used
    float4* f = reinterpret_cast<float4*>(m);
    time("adds" + of, [&](int k) { adds<<<third / 256, 256>>>(f + (k % 2 ? 2 : 0) * third, f + third, f + (k % 2 ? 0 : 2) * third); });
  }
  std::puts("ok");
}
