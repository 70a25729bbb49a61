// SPDX-License-Identifier: Apache-2.0
// CTAs that go through pieces of memory of their own, which begin at a line or so many bytes behind one. Prints a line
// for each launch: kind, bytes of a piece, bytes behind a line, CTAs, threads. See README.md.
// sass: LDG.E.128, STG.E.128
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,lts__t_requests_srcunit_tex.sum
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

enum Kind { kRead, kWrite, kCopy, kAdd };

template <Kind kind>
__global__ void pieces(const char* from, char* to, size_t piece, size_t behind) {
  const size_t begin = blockIdx.x * piece + behind;
  const float4* x = reinterpret_cast<const float4*>(from + begin);
  float4* y = reinterpret_cast<float4*>(to + begin);
  float sum = 0;
  for (size_t i = threadIdx.x; i < piece / 16; i += blockDim.x) {
    if (kind == kRead) sum += x[i].x + x[i].w;
    if (kind == kWrite) y[i] = make_float4(1, 2, 3, float(i));
    if (kind == kCopy) y[i] = x[i];
    if (kind == kAdd) {
      float4 v = y[i];
      const float4 w = x[i];
      v.x += 2 * w.x, v.y += 2 * w.y, v.z += 2 * w.z, v.w += 2 * w.w;
      y[i] = v;
    }
  }
  if (kind == kRead && sum == 12345.f) y[0].x = sum;
}

int main() {
  constexpr size_t room = (size_t(264) << 20) + 4096;
  char *x, *y;
  CHECK(cudaMalloc(&x, room));
  CHECK(cudaMalloc(&y, room));
  CHECK(cudaMemset(x, 0, room));
  CHECK(cudaMemset(y, 0, room));
  for (const size_t kib : {4, 16, 64, 256, 2048})
    for (const size_t behind : {0, 16, 64}) {
      const int ctas = kib == 2048 ? 132 : 1056;
      const size_t piece = kib << 10;
      const auto line = [&](const char* kind) { printf("%s %zu %zu %d 256\n", kind, piece, behind, ctas); };
      pieces<kRead><<<ctas, 256>>>(x, y, piece, behind), line("read");
      pieces<kWrite><<<ctas, 256>>>(x, y, piece, behind), line("write");
      pieces<kCopy><<<ctas, 256>>>(x, y, piece, behind), line("copy");
      pieces<kAdd><<<ctas, 256>>>(x, y, piece, behind), line("add");
    }
  CHECK(cudaDeviceSynchronize());
}
