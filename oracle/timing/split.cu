// SPDX-License-Identifier: Apache-2.0
// Words that are read, changed and stored in place, by warps whose words begin so many bytes behind a line: lines of
// which two warps have a part. Prints a line for each launch: kind, MiB, bytes behind a line, CTAs, threads. See
// README.md.
// sass: LDG.E, LDG.E.128, STG.E, STG.E.128
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,lts__t_requests_srcunit_tex.sum,l1tex__t_sector_hit_rate.pct
// metrics: lts__t_sectors_op_write.sum,lts__t_sectors_op_read.sum,dram__bytes_read.sum,dram__bytes_write.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

__device__ inline float more(float v) { return v + 2; }
__device__ inline float2 more(float2 v) { return {v.x + 2, v.y + 2}; }
__device__ inline float4 more(float4 v) { return {v.x + 2, v.y + 2, v.z + 2, v.w + 2}; }

// A thread for each word, or a grid that strides over all.
template <class T>
__global__ void bump(T* y, size_t n) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = more(y[i]);
}
template <class T>
__global__ void bump_stride(T* y, size_t n) {
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) y[i] = more(y[i]);
}
// From one place to another.
template <class T>
__global__ void moved(const T* x, T* y, size_t n) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = more(x[i]);
}
// One of each two halves of a line only.
__global__ void half(float* y, size_t n) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x, at = i / 16 * 32 + i % 16;
  if (at < n) y[at] = more(y[at]);
}

static const char* name(const char* kind, const char* type) {
  static char text[64];
  return snprintf(text, sizeof text, "%s_%s", kind, type), text;
}

template <class T>
int all(char* x, char* y, size_t mib, const char* type) {
  const size_t n = (mib << 20) / sizeof(T);
  for (const size_t behind : {size_t(0), sizeof(T), size_t(32), size_t(64)}) {
    T *from = reinterpret_cast<T*>(x + behind), *to = reinterpret_cast<T*>(y + behind);
    const unsigned ctas = unsigned((n + 255) / 256);
    const auto line = [&](const char* kind, unsigned grid) { printf("%s %zu %zu %u 256\n", name(kind, type), mib, behind, grid); };
    bump<<<ctas, 256>>>(to, n), line("bump", ctas);
    bump_stride<<<1056, 256>>>(to, n), line("bump_stride", 1056);
    moved<<<ctas, 256>>>(from, to, n), line("moved", ctas);
  }
  return 0;
}

int main() {
  constexpr size_t room = (size_t(256) << 20) + 4096;
  char *x, *y;
  CHECK(cudaMalloc(&x, room));
  CHECK(cudaMalloc(&y, room));
  CHECK(cudaMemset(x, 0, room));
  CHECK(cudaMemset(y, 0, room));
  for (const size_t mib : {8, 64, 256}) {
    all<float>(x, y, mib, "1"), all<float2>(x, y, mib, "2"), all<float4>(x, y, mib, "4");
    const size_t n = mib << 18;
    half<<<unsigned((n / 2 + 255) / 256), 256>>>(reinterpret_cast<float*>(y), n), printf("half %zu 0 %u 256\n", mib, unsigned((n / 2 + 255) / 256));
  }
  CHECK(cudaDeviceSynchronize());
}
