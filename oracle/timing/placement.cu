// SPDX-License-Identifier: Apache-2.0
// Which CTAs come to which multiprocessor: grids of CTAs that are all there at a time. Prints a line for each grid:
// CTAs, threads; then for each multiprocessor, in the order of its first CTA, its number and its CTAs. See README.md.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

__global__ void where(uint32_t* at) {
  uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0) at[blockIdx.x] = sm;
  for (const long long begin = clock64(); clock64() - begin < 200000;) {
  }
}

int main() {
  uint32_t* at;
  CHECK(cudaMalloc(&at, 1 << 16));
  for (int threads : {64, 256, 1024})
    for (int each : {1, 2, 4, 8}) {
      if (threads * each > 2048) continue;
      const int ctas = 132 * each;
      std::vector<uint32_t> of(ctas);
      where<<<ctas, threads>>>(at);
      CHECK(cudaMemcpy(of.data(), at, ctas * 4, cudaMemcpyDeviceToHost));
      std::vector<uint32_t> order;
      std::map<uint32_t, std::vector<int>> all;
      for (int c = 0; c < ctas; ++c) {
        if (all[of[c]].empty()) order.push_back(of[c]);
        all[of[c]].push_back(c);
      }
      printf("%d %d |", ctas, threads);
      for (uint32_t sm : order) {
        printf(" %u:", sm);
        for (int c : all[sm]) printf("%s%d", c == all[sm][0] ? "" : ",", c);
      }
      printf("\n");
    }
}
