// SPDX-License-Identifier: Apache-2.0
// What __nanosleep takes, of a literal and of a register, for one warp and for many. Prints a line for each launch:
// kind, nanoseconds, turns, CTAs, threads. See README.md.
// sass: NANOSLEEP
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,smsp__inst_executed.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

template <unsigned nanoseconds>
__global__ void literal(int turns) {
  for (int k = 0; k < turns; ++k) __nanosleep(nanoseconds);
}
__global__ void of_register(unsigned nanoseconds, int turns) {
  for (int k = 0; k < turns; ++k) __nanosleep(nanoseconds);
}

template <unsigned nanoseconds>
static void both() {
  const int turns = nanoseconds > 5000 ? 4 : 32;
  for (int ctas : {1, 132})
    for (int threads : {32, 512}) {
      literal<nanoseconds><<<ctas, threads>>>(turns);
      printf("literal %u %d %d %d\n", nanoseconds, turns, ctas, threads);
      of_register<<<ctas, threads>>>(nanoseconds, turns);
      printf("of_register %u %d %d %d\n", nanoseconds, turns, ctas, threads);
    }
}

int main() {
  both<0>(), both<8>(), both<20>(), both<32>(), both<64>(), both<100>(), both<200>(), both<500>();
  both<1000>(), both<2000>(), both<5000>(), both<20000>(), both<100000>();
  CHECK(cudaDeviceSynchronize());
}
