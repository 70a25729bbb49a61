// SPDX-License-Identifier: Apache-2.0
// What several CTAs read at a time, wide loads of shared memory beside arithmetic,
// instructions of the uniform datapath, stores that leave gaps, reductions of floating point on many words, the
// slow ways of division. Prints a line for each launch: kind, one size, another size, CTAs, threads. See
// README.md.
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,lts__t_sector_hit_rate.pct,l1tex__t_sector_hit_rate.pct
// metrics: l1tex__data_pipe_lsu_wavefronts.sum,l1tex__lsuin_requests.sum,sm__inst_executed_pipe_uniform.sum
// metrics: lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_op_red.sum
// metrics: lts__t_requests_srcunit_tex.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                               \
  do {                                                                                         \
    cudaError_t e = (x);                                                                       \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1;    \
  } while (0)

static void line(const char* kind, int one, int other, int ctas, int threads) {
  printf("%s %d %d %d %d\n", kind, one, other, ctas, threads);
}

// A chain of loads from DRAM, a line of 128 bytes each; `share` CTAs read the same lines. The others of a group begin
// `late` turns of a multiplication later.
__global__ void together(const uint32_t* a, uint32_t* out, int turns, int share, int late) {
  const uint32_t group = blockIdx.x / share;
  uint32_t v = threadIdx.x;
  if (blockIdx.x % share)
    for (int k = 0; k < late; ++k) v = v * 5 + 1;
  uint32_t at = v == 0x9e3779b9u;
  for (int t = 0; t < turns; ++t) at = a[(size_t(group) * turns + t) * 32 + threadIdx.x + at];  // zeros
  if (at == 0x9e3779b9u) *out = at;
}

// Of each turn two loads of 16 bytes and `kMany` multiplications; all lanes of a load read one, two or eight places.
template <int kMany>
__global__ void wide_shared(float* out, int turns, int places, float x) {
  __shared__ float4 s[512];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) s[i] = make_float4(x, x, x, x);
  __syncthreads();
  float v[8] = {x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7};
  const int mine = threadIdx.x % 32 * places / 32;
#pragma unroll 4
  for (int t = 0; t < turns; ++t) {
    float4 a, b;
    const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(s + (t * 16 + mine) % 480));
    asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(a.x), "=f"(a.y), "=f"(a.z), "=f"(a.w) : "r"(at));
    asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4+128];" : "=f"(b.x), "=f"(b.y), "=f"(b.z), "=f"(b.w) : "r"(at));
#pragma unroll
    for (int k = 0; k < kMany; ++k) v[k % 8] = v[k % 8] * (k & 1 ? a.x : a.y) + (k & 2 ? b.z : b.w) * (k & 4 ? a.z : b.x);
  }
  float sum = 0;
  for (float w : v) sum += w;
  if (sum == 12345.f) *out = sum;
}

// Constants that all lanes read, `kMany` for each multiplication that uses them.
__constant__ uint32_t table[1024];
template <int kMany>
__global__ void uniform_loads(float* out, int turns, float x) {
  float v = x, w = x + 1;
#pragma unroll 1
  for (int t = 0; t < turns; ++t) {
#pragma unroll
    for (int k = 0; k < kMany; ++k) {
      const float c = __uint_as_float(table[(t * kMany + k) & 1023]);
      (k & 1 ? v : w) = (k & 1 ? v : w) * x + c;
    }
  }
  if (v + w == 12345.f) *out = v;
}
template <int kMany>
__global__ void uniform_sums(float* out, int turns, float x, uint32_t a, uint32_t b) {
  float v = x, w = x + 1;
#pragma unroll 1
  for (int t = 0; t < turns; ++t) {
    uint32_t u = t;
#pragma unroll
    for (int k = 0; k < kMany; ++k) u = (u ^ a) + (b + k);
    v = v * x + __uint_as_float(u), w = w * x + v;
  }
  if (v + w == 12345.f) *out = v;
}

// Stores of 4 bytes, 16 apart: `kMany` of four are written, one behind the other.
template <int kMany>
__global__ void stores_with_gaps(uint32_t* out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kMany; ++k) out[i * 4 + k] = threadIdx.x + k;
}
template <int kMany>
__global__ void stores_of_eight(uint2* out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kMany; ++k) out[i * 2 + k] = make_uint2(threadIdx.x, k);
}

// Reductions on words of a table, at random.
template <class T>
__global__ void many_words(T* a, uint32_t mask, int turns) {
  uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
  for (int t = 0; t < turns; ++t) {
    i = i * 1664525 + 1013904223;
    atomicAdd(a + (i >> 8 & mask), T(1));
  }
}
// ... between them a load of a word of another table, at random.
__global__ void loads_and_words(const uint32_t* b, float* a, uint32_t mask, int turns) {
  uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
  for (int t = 0; t < turns; ++t) {
    i = i * 1664525 + 1013904223 + b[i >> 8 & mask];  // zeros
    atomicAdd(a + (i >> 8 & mask), 1.0f);
  }
}

// Quotients; `of` says which: 0: usual ones, 1: of zero, 2: of a number so small that it is not normal.
__global__ void quotients(const float* in, float* out, int turns) {
  const float a = in[threadIdx.x % 32], b = in[32 + threadIdx.x % 32];
  float v = 0;
#pragma unroll 1
  for (int t = 0; t < turns; ++t) v += (a * v + a) / (b + v * a);
  if (v == 12345.f) *out = v;
}

int main() {
  const size_t room = size_t(256) << 20;
  char* a;
  uint32_t* out;
  CHECK(cudaMalloc(&a, room));
  CHECK(cudaMalloc(&out, room));
  CHECK(cudaMemset(a, 0, room));
  CHECK(cudaMemset(out, 0, room));
  const auto words = reinterpret_cast<uint32_t*>(a);
  const auto of = reinterpret_cast<float*>(out);
  for (int threads : {32, 256})
    for (int share : {1, 2, 4, 12, 132})
      for (int late : {0, 50, 200, 800})
        if (share > 1 || !late) together<<<132, threads>>>(words, out, 64, share, late), line("together", share, late, 132, threads);
  for (int threads : {128, 256, 512, 1024})
    for (int places : {1, 2, 8}) {
      wide_shared<4><<<132, threads>>>(of, 256, places, 0.5f), line("wide_shared", 4, places, 132, threads);
      wide_shared<8><<<132, threads>>>(of, 256, places, 0.5f), line("wide_shared", 8, places, 132, threads);
      wide_shared<16><<<132, threads>>>(of, 256, places, 0.5f), line("wide_shared", 16, places, 132, threads);
      wide_shared<32><<<132, threads>>>(of, 256, places, 0.5f), line("wide_shared", 32, places, 132, threads);
    }
  for (int threads : {128, 512, 1024}) {
    uniform_loads<1><<<132, threads>>>(of, 256, 0.5f), line("uniform_loads", 1, 256, 132, threads);
    uniform_loads<2><<<132, threads>>>(of, 256, 0.5f), line("uniform_loads", 2, 256, 132, threads);
    uniform_loads<8><<<132, threads>>>(of, 128, 0.5f), line("uniform_loads", 8, 128, 132, threads);
    uniform_sums<2><<<132, threads>>>(of, 256, 0.5f, 3, 5), line("uniform_sums", 2, 256, 132, threads);
    uniform_sums<4><<<132, threads>>>(of, 256, 0.5f, 3, 5), line("uniform_sums", 4, 256, 132, threads);
    uniform_sums<8><<<132, threads>>>(of, 256, 0.5f, 3, 5), line("uniform_sums", 8, 256, 132, threads);
  }
  for (int ctas : {132, 2112}) {
    stores_with_gaps<1><<<ctas, 256>>>(out), line("stores_with_gaps", 1, 0, ctas, 256);
    stores_with_gaps<2><<<ctas, 256>>>(out), line("stores_with_gaps", 2, 0, ctas, 256);
    stores_with_gaps<3><<<ctas, 256>>>(out), line("stores_with_gaps", 3, 0, ctas, 256);
    stores_with_gaps<4><<<ctas, 256>>>(out), line("stores_with_gaps", 4, 0, ctas, 256);
    stores_of_eight<1><<<ctas, 256>>>(reinterpret_cast<uint2*>(out)), line("stores_of_eight", 1, 0, ctas, 256);
    stores_of_eight<2><<<ctas, 256>>>(reinterpret_cast<uint2*>(out)), line("stores_of_eight", 2, 0, ctas, 256);
  }
  CHECK(cudaMemset(a, 0, room));
  for (int log : {10, 13, 17, 20}) {
    many_words<float><<<264, 256>>>(reinterpret_cast<float*>(a), (1u << log) - 1, 16), line("float_words", log, 16, 264, 256);
    many_words<uint32_t><<<264, 256>>>(words, (1u << log) - 1, 16), line("integer_words", log, 16, 264, 256);
    CHECK(cudaMemset(out, 0, 4 << 20));
    loads_and_words<<<264, 256>>>(out, reinterpret_cast<float*>(a), (1u << log) - 1, 16), line("loads_and_words", log, 16, 264, 256);
  }
  for (int which : {0, 1, 2}) {
    float in[64];
    for (int k = 0; k < 64; ++k) in[k] = k < 32 ? which == 0 ? 1e-3f : which == 1 ? 0.0f : 1e-40f : 2.0f;
    CHECK(cudaMemcpy(a, in, sizeof in, cudaMemcpyHostToDevice));
    for (int threads : {32, 512}) quotients<<<132, threads>>>(reinterpret_cast<float*>(a), of, 64), line("quotients", which, 64, 132, threads);
  }
  CHECK(cudaDeviceSynchronize());
}
