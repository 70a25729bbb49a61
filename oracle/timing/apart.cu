// SPDX-License-Identifier: Apache-2.0
// How long a load of a line that L2 has takes, by the place of the line: one thread of each of a few multiprocessors
// loads 4096 lines of 16 MiB one behind the other, each three times past L1, and keeps the shortest. Prints for each
// multiprocessor the cycles of the fastest line, of the tenths, and of the slowest; then how many lines are as far from
// multiprocessor 0 as from another one (within 20 cycles of the middle on the same side). See README.md.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kLines = 4096, kApart = 1024;  // words between lines

__global__ void chase(const uint32_t* in, uint16_t* cycles, uint32_t* sm) {
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm[blockIdx.x]));
  __shared__ volatile uint32_t kept;
#pragma unroll 1
  for (int i = 0; i < kLines; ++i) {
    uint32_t best = 65535, v = 0;
#pragma unroll 1
    for (int turn = 0; turn < 4; ++turn) {
      const uint32_t* p = in + i * kApart + (v & 1);
      const uint32_t begin = clock();
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
      kept = v;  // waits for the load
      const uint32_t end = clock();
      if (turn) best = min(best, end - begin);
    }
    cycles[blockIdx.x * kLines + i] = uint16_t(best);
  }
}

int main() {
  uint32_t *in, *sm;
  uint16_t* cycles;
  const int ctas = 132;
  CHECK(cudaMalloc(&in, size_t(kLines) * kApart * 4));
  CHECK(cudaMalloc(&cycles, ctas * kLines * 2));
  CHECK(cudaMalloc(&sm, ctas * 4));
  CHECK(cudaMemset(in, 0, size_t(kLines) * kApart * 4));
  std::vector<uint16_t> got(ctas * kLines);
  std::vector<uint32_t> sms(ctas);
  chase<<<ctas, 1>>>(in, cycles, sm);
  CHECK(cudaMemcpy(got.data(), cycles, got.size() * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(sms.data(), sm, ctas * 4, cudaMemcpyDeviceToHost));
  std::vector<std::vector<uint16_t>> of(ctas);
  for (int c = 0; c < ctas; ++c) of[sms[c]].assign(got.begin() + c * kLines, got.begin() + (c + 1) * kLines);
  for (int s = 0; s < ctas; s += 11) {
    std::vector<uint16_t> order = of[s];
    std::sort(order.begin(), order.end());
    printf("sm %d:", s);
    for (int tenth = 0; tenth <= 10; ++tenth) printf(" %d", order[std::min(kLines - 1, tenth * kLines / 10)]);
    int same = 0;
    const auto middle = [](std::vector<uint16_t> v) { return std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end()), v[v.size() / 2]; };
    const int here = middle(of[s]), there = middle(of[0]);
    for (int i = 0; i < kLines; ++i) same += (of[s][i] > here) == (of[0][i] > there);
    printf(" like sm 0: %d of %d\n", same, kLines);
  }
}
