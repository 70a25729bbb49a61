// SPDX-License-Identifier: Apache-2.0
// Stores that may leave together: records written field by field with arithmetic between, behind loads, or four at
// once; a flag that some warps set while they read. Prints a line for each launch: kind, two sizes, CTAs, threads.
// See README.md.
// metrics: gpu__time_duration.sum,sm__cycles_active.max,smsp__inst_executed.sum
// metrics: l1tex__m_l1tex2xbar_req_cycles_active.sum,lts__t_requests_srcunit_tex_op_write.sum
// metrics: lts__t_sectors_srcunit_tex_op_write.sum,lts__t_requests_srcunit_tex.sum,lts__t_tag_requests.sum
// metrics: l1tex__lsuin_requests.sum
// caches: none
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

static void line(const char* kind, int one, int other, int ctas, int threads) {
  printf("%s %d %d %d %d\n", kind, one, other, ctas, threads);
}

__device__ void put(uint32_t* p, uint32_t v) { asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v)); }
__device__ void put(uint2* p, uint32_t v) { asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(p), "r"(v)); }
__device__ void put(uint4* p, uint32_t v) { asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(v)); }

// Records of `fields` fields, a lane's one behind the other; `between`: products one behind the other between stores.
template <class T, int fields, int between>
__global__ void records(T* out, int turns) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  uint32_t v = threadIdx.x;
#pragma unroll 1
  for (int t = 0; t < turns; ++t)
#pragma unroll
    for (int f = 0; f < fields; ++f) {
#pragma unroll
      for (int n = 0; n < between; ++n) asm volatile("mad.lo.u32 %0, %0, 77, 1;" : "+r"(v));
      put(out + (t * all + i) * fields + f, v);
    }
}

// The same once, behind as many loads that come from L2: a pass of a transform.
template <class T, int fields>
__global__ void passes(const uint32_t* in, T* out) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  uint32_t v[fields];
#pragma unroll
  for (int f = 0; f < fields; ++f) v[f] = in[f * all + i];
#pragma unroll
  for (int f = 0; f < fields; ++f) put(out + i * fields + f, v[f] * 7);
}

// Reads words one behind the other; of every `often`-th a lane stores to one word, as a search that marks what it
// changes.
__global__ void flags(const uint32_t* in, uint32_t* flag, int turns, int often) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int t = 0; t < turns; ++t)
    if (in[(t * all + i) & (1 << 20) - 1] % often == 0) *(volatile uint32_t*)flag = 1;
}

template <class T, int fields, int between>
static void records_of(uint32_t* a) {
  const int shapes[][2] = {{1, 32}, {1, 128}, {1, 256}, {1, 1024}, {132, 32}, {132, 128}, {132, 256}, {132, 1024}};
  for (const auto& s : shapes) {
    records<T, fields, between><<<s[0], s[1]>>>(reinterpret_cast<T*>(a), 16);
    char kind[32];
    snprintf(kind, sizeof kind, "records_%d", between);
    line(kind, (int)sizeof(T), fields, s[0], s[1]);
  }
}
template <class T, int fields>
static void of(uint32_t* a, const uint32_t* in) {
  records_of<T, fields, 0>(a), records_of<T, fields, 4>(a), records_of<T, fields, 16>(a);
  for (int ctas : {1, 132, 1056}) {
    passes<T, fields><<<ctas, 256>>>(in, reinterpret_cast<T*>(a));
    line("passes", (int)sizeof(T), fields, ctas, 256);
  }
}

__global__ void fill(uint32_t* a, size_t n) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint32_t x = uint32_t(i) * 0x9e3779b9u;
    a[i] = x ^ x >> 15;
  }
}

int main() {
  uint32_t *a, *in;
  CHECK(cudaMalloc(&a, size_t(512) << 20));
  CHECK(cudaMalloc(&in, size_t(32) << 20));
  CHECK(cudaMemset(a, 0, size_t(512) << 20));
  fill<<<528, 256>>>(in, size_t(8) << 20);
  line("fill", 0, 0, 528, 256);
  of<uint32_t, 2>(a, in), of<uint32_t, 4>(a, in), of<uint32_t, 8>(a, in);
  of<uint2, 2>(a, in), of<uint2, 4>(a, in), of<uint4, 2>(a, in), of<uint4, 4>(a, in);
  for (int often : {1, 8, 64, 512, 4096})
    for (int ctas : {1, 16, 132, 1056}) flags<<<ctas, 256>>>(in, a, 16, often), line("flags", often, 0, ctas, 256);
  CHECK(cudaDeviceSynchronize());
}
