// SPDX-License-Identifier: Apache-2.0
// Barriers of whole grids. Prints a line for each launch: kind, turns, CTAs, threads; and how many cycles a turn takes,
// the least of five launches.
#include <cooperative_groups.h>

#include <algorithm>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kTurns = 100;

__global__ void cooperative(long long* out, unsigned*, int turns) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  grid.sync();
  const long long begin = clock64();
  for (int t = 0; t < turns; ++t) grid.sync();
  if (grid.thread_rank() == 0) *out = clock64() - begin;
}

// One thread of each CTA counts, then reads until all have; words of its own for each turn.
__global__ void counted(long long* out, unsigned* words, int turns) {
  const long long begin = clock64();
  for (int t = 0; t < turns; ++t) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(words + t, 1);
      while (*static_cast<volatile unsigned*>(words + t) < gridDim.x) {
      }
      __threadfence();
    }
    __syncthreads();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *out = clock64() - begin;
}

template <class Kernel>
int line(const char* kind, Kernel* kernel, int ctas, int threads, long long* out, unsigned* words) {
  int turns = kTurns;
  void* arguments[] = {&out, &words, &turns};
  long long best = ~0ull >> 1, one = 0;
  for (int pass = 0; pass < 5; ++pass) {
    CHECK(cudaMemset(words, 0, kTurns * sizeof(unsigned)));
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), ctas, threads, arguments, 0, nullptr));
    CHECK(cudaMemcpy(&one, out, sizeof one, cudaMemcpyDeviceToHost));
    best = std::min(best, one);
  }
  printf("%s %d %d %d | %.0f\n", kind, turns, ctas, threads, static_cast<double>(best) / turns);
  return 0;
}

int main() {
  long long* out;
  unsigned* words;
  CHECK(cudaMalloc(&out, sizeof *out));
  CHECK(cudaMalloc(&words, kTurns * sizeof *words));
  for (const int ctas : {2, 8, 33, 66, 132, 264, 528})
    for (const int threads : {32, 256, 1024}) {
      if (ctas * threads > 132 * 2048) continue;
      if (line("cooperative", cooperative, ctas, threads, out, words)) return 1;
      if (line("counted", counted, ctas, threads, out, words)) return 1;
    }
  return 0;
}
