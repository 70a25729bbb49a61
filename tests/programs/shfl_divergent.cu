// SPDX-License-Identifier: Apache-2.0
// Shuffles in divergent code: each side of a branch shuffles among its own lanes, loops end lane by lane.
#include "program.h"
using namespace program;

__global__ void sides(uint32_t* out, const uint32_t* in) {
  const int lane = threadIdx.x;
  uint32_t v = in[lane];
  const unsigned odd = __ballot_sync(~0u, v & 1);
  if (v & 1) {
    const int first = __ffs(odd) - 1;
    v += __shfl_sync(odd, v, first) * 3;
    for (int step = 1; step < 32; step *= 2) {
      const int from = lane ^ step;
      const uint32_t other = __shfl_sync(odd, v, odd >> from & 1 ? from : lane);
      v = mix(v + other);
    }
  } else {
    const int last = 31 - __clz(~odd);
    v ^= __shfl_sync(~odd, v, last);
  }
  out[lane] = v;
}

__global__ void countdown(uint32_t* out, const uint32_t* in) {
  const int lane = threadIdx.x;
  uint32_t left = in[lane] % 20, sum = 0;
  unsigned going = __ballot_sync(~0u, left > 0);
  while (left > 0) {
    const int leader = __ffs(going) - 1;
    sum = sum * 5 + __shfl_sync(going, left * 100 + lane, leader) + __popc(going);
    --left;
    going = __ballot_sync(going, left > 0);
  }
  out[lane] = sum;
}

int main() {
  const std::vector<uint32_t> in = random_words(32, 77);
  Device<uint32_t> from(in), out(32);
  sides<<<1, 32>>>(out, from);
  MUST_RUN();
  std::vector<uint32_t> want = in;
  uint32_t odd = 0;
  for (int l = 0; l < 32; ++l) odd |= (in[l] & 1) << l;
  const int first = __builtin_ctz(odd), last = 31 - __builtin_clz(~odd);
  const uint32_t at_first = in[first], at_last = in[last];
  for (int l = 0; l < 32; ++l) want[l] = odd >> l & 1 ? in[l] + at_first * 3 : in[l] ^ at_last;
  for (int step = 1; step < 32; step *= 2) {
    const std::vector<uint32_t> before = want;
    for (int l = 0; l < 32; ++l)
      if (odd >> l & 1) want[l] = mix(before[l] + before[odd >> (l ^ step) & 1 ? l ^ step : l]);
  }
  expect_equal("two sides", out.copy(), want);
  countdown<<<1, 32>>>(out, from);
  MUST_RUN();
  std::vector<uint32_t> left(32), sum(32);
  for (int l = 0; l < 32; ++l) left[l] = in[l] % 20;
  for (;;) {
    uint32_t going = 0;
    for (int l = 0; l < 32; ++l) going |= uint32_t(left[l] > 0) << l;
    if (!going) break;
    const int leader = __builtin_ctz(going);
    for (int l = 0; l < 32; ++l)
      if (going >> l & 1) sum[l] = sum[l] * 5 + left[leader] * 100 + leader + __builtin_popcount(going);
    for (int l = 0; l < 32; ++l) left[l] -= going >> l & 1;
  }
  expect_equal("lanes leave a loop one by one", out.copy(), sum);
  return finish();
}
