// SPDX-License-Identifier: Apache-2.0
// Lanes that meet: reductions of which some lanes come to one word, atomics of few lanes on words that lie apart, loops
// of compare-and-swap that shared memory needs for floating point, reductions beside gathers, stores that all write one
// word. Prints a line for each launch: kind, one size, another size, CTAs, threads. See README.md.
// sass: REDG.E.ADD.F32, REDG.E.ADD, ATOMG.E.ADD, ATOMS.CAST.SPIN, ATOMS.CAST.SPIN.64, STG.E
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,lts__t_sector_hit_rate.pct,l1tex__t_sector_hit_rate.pct
// metrics: l1tex__data_pipe_lsu_wavefronts.sum,l1tex__lsuin_requests.sum,lts__t_requests_srcunit_tex.sum
// metrics: lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_op_red.sum,lts__t_sectors_op_atom.sum
// metrics: dram__bytes_read.sum,dram__bytes_write.sum,smsp__thread_inst_executed.sum
// caches: all
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

__host__ __device__ uint32_t mix(uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}

// `same` lanes that follow each other reduce one word: at random, or all words in their order.
template <class T>
__global__ void lanes(T* a, uint32_t mask, int turns, int same, int in_order) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int t = 0; t < turns; ++t) {
    const uint32_t k = (t * all + i) / same;
    atomicAdd(a + ((in_order ? k : mix(k)) & mask), T(1));
  }
}

// Lanes below `many` add to words that lie `apart` words apart, which all warps have, and go on with the answer.
__global__ void few_words(uint32_t* a, uint32_t* out, int turns, int many, int apart) {
  const uint32_t lane = threadIdx.x % 32;
  uint32_t at = 0;
  for (int t = 0; t < turns; ++t) {
    if (lane < many) at = atomicAdd(a + lane * apart + (at == ~0u), 1);
    at = __shfl_sync(~0u, at, 0);
  }
  if (at == ~0u) *out = at;
}
__global__ void few_words_untold(uint32_t* a, int turns, int many, int apart) {
  const uint32_t lane = threadIdx.x % 32;
  for (int t = 0; t < turns; ++t)
    if (lane < many) atomicAdd(a + lane * apart, t);
}

// Shared memory: `same` lanes at one word; each warp has words of its own, or all have the same.
template <class T>
__global__ void shared_sums(T* out, int turns, int same, int own) {
  __shared__ T s[2048];
  for (int k = threadIdx.x; k < 2048; k += blockDim.x) s[k] = 0;
  __syncthreads();
  const int warp = threadIdx.x / 32, at = (own ? warp * 32 : 0) + threadIdx.x % 32 / same;
  T v = T(threadIdx.x);
  for (int t = 0; t < turns; ++t) atomicAdd(s + at, v), v += T(1);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}
// ... at random, in so many words.
__global__ void shared_at_random(float* out, int turns, int words) {
  __shared__ float s[2048];
  for (int k = threadIdx.x; k < 2048; k += blockDim.x) s[k] = 0;
  __syncthreads();
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int t = 0; t < turns; ++t) atomicAdd(s + mix(i * turns + t) % words, 1.0f);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

// Edges: where they lead is read in order, or each thread has its own row of them; then a gather, a reduction, or both.
template <bool kGather, bool kReduce>
__global__ void edges(const uint32_t* to, const float* x, float* y, int turns, int rows, float* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  float sum = 1;
  for (int t = 0; t < turns; ++t) {
    const uint32_t k = to[rows ? i * turns + t : t * all + i];
    if (kGather) sum += x[k];
    if (kReduce) atomicAdd(y + k, kGather ? sum : 1.0f);
  }
  if (!kReduce && sum == 12345.f) *out = sum;
}

// All lanes, or one in `apart`, write one word.
__global__ void one_word(uint32_t* out, int turns, int apart) {
  for (int t = 0; t < turns; ++t)
    if ((threadIdx.x + t) % apart == 0) *reinterpret_cast<volatile uint32_t*>(out) = t;
}

__global__ void fill(uint32_t* to, uint32_t mask, uint32_t n) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = mix(i) & mask;
}

int main() {
  const size_t room = size_t(64) << 20;
  char *a, *b, *c;
  CHECK(cudaMalloc(&a, room));
  CHECK(cudaMalloc(&b, room));
  CHECK(cudaMalloc(&c, room));
  CHECK(cudaMemset(a, 0, room));
  CHECK(cudaMemset(b, 0, room));
  CHECK(cudaMemset(c, 0, room));
  const auto words = reinterpret_cast<uint32_t*>(a), to = reinterpret_cast<uint32_t*>(b), out = reinterpret_cast<uint32_t*>(c);
  const auto floats = reinterpret_cast<float*>(a), x = reinterpret_cast<float*>(c);
  for (int in_order : {0, 1})
    for (int same : {1, 2, 4, 8, 16, 32}) {
      lanes<float><<<264, 256>>>(floats, (1 << 17) - 1, 16, same, in_order);
      line(in_order ? "float_lanes_in_order" : "float_lanes", same, 16, 264, 256);
      lanes<uint32_t><<<264, 256>>>(words, (1 << 17) - 1, 16, same, in_order);
      line(in_order ? "integer_lanes_in_order" : "integer_lanes", same, 16, 264, 256);
    }
  for (int apart : {1, 8, 32, 64, 128, 256, 1024, 4096})
    for (int many : {1, 2, 4, 8, 32}) {
      if (many == 1 && apart > 1) continue;
      few_words<<<132, 256>>>(words, out, 16, many, apart), line("few_words", many, apart, 132, 256);
      few_words_untold<<<132, 256>>>(words, 16, many, apart), line("few_words_untold", many, apart, 132, 256);
    }
  for (int threads : {32, 128, 512, 1024})
    for (int own : {1, 0})
      for (int same : {1, 2, 4, 8, 32}) {
        shared_sums<float><<<132, threads>>>(floats, 16, same, own), line(own ? "shared_float_own" : "shared_float", same, 16, 132, threads);
        if (same != 2)
          shared_sums<double><<<132, threads>>>(reinterpret_cast<double*>(a), 16, same, own),
              line(own ? "shared_double_own" : "shared_double", same, 16, 132, threads);
      }
  for (int threads : {32, 128, 512, 1024})
    for (int many : {8, 64, 512, 2048}) shared_at_random<<<132, threads>>>(floats, 16, many), line("shared_at_random", many, 16, 132, threads);
  for (int log : {12, 15, 18, 20, 22})
    for (int rows : {0, 1}) {
      const int ctas = 1056, turns = 8;
      fill<<<132, 256>>>(to, (1u << log) - 1, ctas * 256 * turns), line("fill", log, rows, 132, 256);
      edges<true, false><<<ctas, 256>>>(to, x, floats, turns, rows, floats), line(rows ? "pull_rows" : "pull", log, turns, ctas, 256);
      edges<false, true><<<ctas, 256>>>(to, x, floats, turns, rows, floats), line(rows ? "push_rows" : "push", log, turns, ctas, 256);
      edges<true, true><<<ctas, 256>>>(to, x, floats, turns, rows, floats), line(rows ? "both_rows" : "both", log, turns, ctas, 256);
    }
  for (int apart : {1, 4, 32, 256}) one_word<<<528, 256>>>(words, 8, apart), line("one_word", apart, 8, 528, 256);
  CHECK(cudaDeviceSynchronize());
}
