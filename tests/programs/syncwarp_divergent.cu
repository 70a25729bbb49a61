// SPDX-License-Identifier: Apache-2.0
// __syncwarp inside divergent branches: with the mask of one branch, and with the full mask from two different places.
#include "program.h"
using namespace program;

__global__ void exchange(uint32_t* out) {
  __shared__ uint32_t cell[32];
  const int lane = threadIdx.x;
  uint32_t value = mix(lane);
  if (lane % 4 == 3) {
    cell[lane] = value * 3;
    __syncwarp(0x88888888u);
    value += cell[(lane + 4) % 32];
    __syncwarp(0x88888888u);
  } else {
    cell[lane] = value * 5;
    __syncwarp(0x77777777u);
    const int next = (lane + 1) % 4 == 3 ? (lane + 2) % 32 : lane + 1;
    value ^= cell[next];
    __syncwarp(0x77777777u);
  }
  out[lane] = value;
}

__global__ void two_places(uint32_t* out) {
  __shared__ uint32_t cell[32];
  const int lane = threadIdx.x;
  uint32_t value = 0;
  if (lane < 12) {
    cell[lane] = mix(lane);
    __syncwarp();
    value = cell[31 - lane];
    __syncwarp();
  } else {
    cell[lane] = mix(lane) + 1;
    __syncwarp();
    value = cell[31 - lane] * 7;
    __syncwarp();
  }
  out[lane] = value;
}

// Each round a different part of the warp goes on.
__global__ void shrinking(uint32_t* out) {
  __shared__ uint32_t cell[32];
  const int lane = threadIdx.x;
  uint32_t value = mix(lane);
  for (int n = 32; n > 1; n /= 2) {
    const unsigned mask = n == 32 ? ~0u : (1u << n) - 1;
    if (lane < n) {
      cell[lane] = value;
      __syncwarp(mask);
      if (lane < n / 2) value = mix(cell[lane] + cell[lane + n / 2]);
      __syncwarp(mask);
    }
  }
  out[lane] = value;
}

int main() {
  Device<uint32_t> out(32);
  std::vector<uint32_t> want(32);
  exchange<<<1, 32>>>(out);
  MUST_RUN();
  for (int lane = 0; lane < 32; ++lane) {
    const int next = (lane + 1) % 4 == 3 ? (lane + 2) % 32 : lane + 1;
    want[lane] = lane % 4 == 3 ? mix(lane) + mix((lane + 4) % 32) * 3 : mix(lane) ^ (mix(next) * 5);
  }
  expect_equal("each branch its own mask", out.copy(), want);
  two_places<<<1, 32>>>(out);
  MUST_RUN();
  for (int lane = 0; lane < 32; ++lane) {
    const int other = 31 - lane;
    const uint32_t cell = other < 12 ? mix(other) : mix(other) + 1;
    want[lane] = lane < 12 ? cell : cell * 7;
  }
  expect_equal("full mask from two places", out.copy(), want);
  shrinking<<<1, 32>>>(out);
  MUST_RUN();
  for (int lane = 0; lane < 32; ++lane) want[lane] = mix(lane);
  for (int n = 32; n > 1; n /= 2)
    for (int lane = 0; lane < n / 2; ++lane) want[lane] = mix(want[lane] + want[lane + n / 2]);
  expect_equal("shrinking masks", out.copy(), want);
  return finish();
}
