// SPDX-License-Identifier: Apache-2.0
// A lane's strong vector access moves 8 or 16 bytes at once: a reader never sees half of what another block wrote.
#include <cstdint>
#include <cstdio>

constexpr int kCells = 64, kRounds = 4000;

struct alignas(16) Wide { uint64_t value, check; };
struct alignas(8) Narrow { uint32_t value, check; };
struct alignas(16) Quad { uint32_t v[4]; };

__device__ void put(Wide* p, uint64_t v) { asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(v), "l"(~v) : "memory"); }
__device__ void put(Narrow* p, uint64_t x) {
  const uint32_t v = x;
  asm volatile("st.relaxed.gpu.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(v), "r"(~v) : "memory");
}
__device__ void put(Quad* p, uint64_t x) {
  const uint32_t v = x;
  asm volatile("st.volatile.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v), "r"(v + 1), "r"(v + 2), "r"(~v) : "memory");
}
__device__ bool torn(Wide* p) {
  uint64_t a, b;
  asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(p) : "memory");
  return a != ~b;
}
__device__ bool torn(Narrow* p) {
  uint32_t a, b;
  asm volatile("ld.relaxed.gpu.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(p) : "memory");
  return a != ~b;
}
__device__ bool torn(Quad* p) {
  uint32_t a, b, c, d;
  asm volatile("ld.volatile.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p) : "memory");
  return a != ~d || b != a + 1 || c != a + 2;
}

// Odd blocks read, even blocks write: all lanes one cell, lanes in order, lanes in no order.
template <class T>
__global__ void words(T* cells, unsigned* count) {
  const int l = threadIdx.x;
  unsigned bad = 0;
  for (int i = 0; i < kRounds; ++i) {
    T* places[] = {cells, cells + 1 + l, cells + 1 + (l * 7 + i) % 32};
    for (T* p : places) {
      if (blockIdx.x % 2)
        bad += torn(p);
      else if (p != cells || l == i % 32)
        put(p, uint64_t(i) * 0x9e3779b97f4a7c15u + l);
    }
  }
  if (bad) atomicAdd(count, bad);
}

template <class T>
__global__ void start(T* cells) { put(cells + threadIdx.x, threadIdx.x); }

template <class T>
unsigned run(const char* name) {
  T* cells;
  unsigned* count;
  cudaMalloc(&cells, kCells * sizeof(T));
  cudaMalloc(&count, sizeof *count);
  cudaMemset(count, 0, sizeof *count);
  start<<<1, kCells>>>(cells);
  words<<<4, 32>>>(cells, count);
  unsigned seen = ~0u;
  cudaMemcpy(&seen, count, sizeof seen, cudaMemcpyDeviceToHost);
  printf("%-8s torn %u: %s\n", name, seen, cudaGetErrorString(cudaGetLastError()));
  cudaFree(cells);
  cudaFree(count);
  return seen;
}

int main() {
  const unsigned torn = run<Wide>("2 x u64") | run<Narrow>("2 x u32") | run<Quad>("4 x u32");
  return torn != 0;
}
