// SPDX-License-Identifier: Apache-2.0
// __syncthreads_count / _and / _or, also executed by the warps of a block at different places.
#include "program.h"
using namespace program;

__global__ void reductions(int* out, const uint32_t* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int count = __syncthreads_count(in[i] & 1);
  const int any = __syncthreads_or(in[i] % 97 == 0);
  const int all = __syncthreads_and(in[i] % 97 != 1);
  out[i] = count * 4 + (any != 0) * 2 + (all != 0);
}

// Warps take different paths but the same number of barriers.
__global__ void different_places(uint32_t* out) {
  __shared__ uint32_t cell[96];
  const int t = threadIdx.x, warp = t / 32;
  uint32_t v = mix(t);
  if (warp == 0) {
    cell[t] = v;
    __syncthreads();
    v += cell[t + 64];
    __syncthreads();
  } else if (warp == 1) {
    cell[t] = v * 2;
    __syncthreads();
    v += cell[t - 32];
    __syncthreads();
  } else {
    for (int k = 0; k < 2; ++k) {
      if (k == 0) cell[t] = v * 3;
      __syncthreads();
      if (k == 0) v += cell[t - 32];
    }
  }
  out[t] = v;
}

int main() {
  const std::vector<uint32_t> in = random_words(8 * 100, 5);
  Device<uint32_t> from(in), other(96);
  Device<int> out(800);
  reductions<<<8, 100>>>(out, from);
  MUST_RUN();
  std::vector<int> want(800);
  for (int b = 0; b < 8; ++b) {
    int count = 0, any = 0, all = 1;
    for (int t = 0; t < 100; ++t) count += in[b * 100 + t] & 1, any |= in[b * 100 + t] % 97 == 0, all &= in[b * 100 + t] % 97 != 1;
    for (int t = 0; t < 100; ++t) want[b * 100 + t] = count * 4 + any * 2 + all;
  }
  expect_equal("count, or, and", out.copy(), want);
  different_places<<<1, 96>>>(other);
  MUST_RUN();
  std::vector<uint32_t> wanted(96);
  for (int t = 0; t < 96; ++t) wanted[t] = mix(t) + (t < 32 ? mix(t + 64) * 3 : t < 64 ? mix(t - 32) : mix(t - 32) * 2);
  expect_equal("different places", other.copy(), wanted);
  return finish();
}
