// SPDX-License-Identifier: Apache-2.0
// Reductions of whole warps on words that follow each other, the same words for all CTAs, as a histogram ends with:
// thread t of each CTA adds to word t % words, `turns` times. Prints a line for each launch: kind, words, turns, CTAs,
// threads. See README.md.
// sass: REDG.E.ADD, REDG.E.ADD.F32, REDG.E.ADD.64, ATOMG.E.ADD
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,lts__t_sectors_op_red.sum,lts__t_sectors_op_atom.sum,lts__t_requests_srcunit_tex.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

template <class T, bool kAnswer>
__global__ void dense(T* to, unsigned words, int turns) {
  T sum = 0;
  for (int k = 0; k < turns; ++k) {
    const T was = atomicAdd(to + threadIdx.x % words, T(1));
    if (kAnswer) sum += was;
  }
  if (kAnswer && sum == T(12345678)) *to = 0;
}

template <class T, bool kAnswer>
void all(const char* name, T* to) {
  for (unsigned words : {32u, 64u, 128u, 256u, 1024u})
    for (int ctas : {132, 528, 1056})
      for (int turns : {1, 8}) {
        const int threads = words > 256 ? 1024 : 256;
        dense<T, kAnswer><<<ctas, threads>>>(to, words, turns);
        printf("%s %u %d %d %d\n", name, words, turns, ctas, threads);
      }
}

int main() {
  void* to;
  CHECK(cudaMalloc(&to, 1 << 16));
  CHECK(cudaMemset(to, 0, 1 << 16));
  all<unsigned, false>("dense_u32", static_cast<unsigned*>(to));
  all<float, false>("dense_f32", static_cast<float*>(to));
  all<unsigned long long, false>("dense_u64", static_cast<unsigned long long*>(to));
  all<unsigned, true>("dense_told_u32", static_cast<unsigned*>(to));
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return 0;
}
