// SPDX-License-Identifier: Apache-2.0
// Which quotients of f32 take the slow way (FCHK). Prints a line for each biased exponent of the divisor: runs of
// exponents of the dividend that are slow, with plain mantissas; then exponents where mantissas decide.
// sass: FCHK
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

// One warp for each pair of exponents. The slow way is 35 to 100 instructions more.
__global__ void quotients(uint32_t* cycles, uint32_t low_a, uint32_t low_b) {
  const uint32_t ea = blockIdx.x, eb = blockIdx.y;
  const float a = __uint_as_float(ea << 23 | low_a), b = __uint_as_float(eb << 23 | low_b);
  uint32_t least = ~0u;
  __shared__ volatile float divided[3];
  divided[0] = a, divided[1] = b;
#pragma unroll 1
  for (int k = 0; k < 32; ++k) {
    const float x = divided[0], y = divided[1];
    const uint32_t from = clock();
    divided[2] = __fdiv_rn(x, y);
    least = min(least, static_cast<uint32_t>(clock()) - from);
  }
  cycles[eb * 256 + ea] = least;
}

int main() {
  uint32_t* on_device;
  CHECK(cudaMalloc(&on_device, 65536 * 4));
  std::vector<uint32_t> all(65536);
  const uint32_t lows[][2] = {{0x400000, 0x200000}, {0, 0}, {0x7fffff, 0}, {0, 0x7fffff}, {1, 0x7fffff}, {0x7fffff, 1}};
  for (const auto& low : lows) {
    quotients<<<dim3(256, 256), 32>>>(on_device, low[0], low[1]);
    CHECK(cudaMemcpy(all.data(), on_device, all.size() * 4, cudaMemcpyDeviceToHost));
    const uint32_t usual = all[127 * 256 + 127];
    printf("# mantissas %x %x: %u cycles for exponents of 127\n", low[0], low[1], usual);
    for (uint32_t b = 0; b < 256; ++b) {
      printf("%u:", b);
      const auto slow = [&](uint32_t a) { return all[b * 256 + a] > usual + 40; };
      for (uint32_t a = 0; a < 256; ++a) {
        if (!slow(a) || (a && slow(a - 1))) continue;
        uint32_t end = a;
        while (end + 1 < 256 && slow(end + 1)) ++end;
        printf(" %u-%u", a, end);
      }
      printf("\n");
    }
  }
}
