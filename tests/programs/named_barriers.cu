// SPDX-License-Identifier: Apache-2.0
// Named barriers between warp roles: bar.arrive on one side, bar.sync on the other, two buffers in flight.
#include "program.h"
using namespace program;

template <int kId>
__device__ void arrive(int threads) { asm volatile("bar.arrive %0, %1;" ::"n"(kId), "r"(threads) : "memory"); }
template <int kId>
__device__ void wait(int threads) { asm volatile("bar.sync %0, %1;" ::"n"(kId), "r"(threads) : "memory"); }

// Warps 0 and 1 produce, warps 2 and 3 consume. Barriers 1, 2: buffer full; 3, 4: buffer empty. All count 128 threads.
__global__ void double_buffer(uint32_t* out, int rounds) {
  __shared__ uint32_t buffer[2][64];
  const int me = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int i = 0; i < rounds; i += 2) {
      wait<3>(128);
      buffer[0][me] = mix(i * 64 + me);
      arrive<1>(128);
      wait<4>(128);
      buffer[1][me] = mix((i + 1) * 64 + me);
      arrive<2>(128);
    }
  } else {
    uint32_t sum = 0;
    arrive<3>(128);
    arrive<4>(128);
    for (int i = 0; i < rounds; i += 2) {
      wait<1>(128);
      sum = sum * 3 + buffer[0][63 - me];
      if (i + 2 < rounds) arrive<3>(128);
      wait<2>(128);
      sum = sum * 5 + buffer[1][63 - me];
      if (i + 2 < rounds) arrive<4>(128);
    }
    out[blockIdx.x * 64 + me] = sum;
  }
}

// The two halves of a block meet among themselves, at barriers of their own, different numbers of times.
__global__ void halves(uint32_t* out) {
  __shared__ uint32_t cell[128];
  const int half = threadIdx.x / 64, base = half * 64, me = threadIdx.x % 64;
  uint32_t v = mix(threadIdx.x);
  for (int i = 0; i < 3 + 4 * half; ++i) {
    cell[base + me] = v;
    asm volatile("bar.sync %0, 64;" ::"r"(5 + half) : "memory");
    v = mix(v + cell[base + (me + 1) % 64]);
    asm volatile("bar.sync %0, 64;" ::"r"(5 + half) : "memory");
  }
  __syncthreads();
  out[threadIdx.x] = v;
}

int main() {
  Device<uint32_t> out(3 * 64), other(128);
  double_buffer<<<3, 128>>>(out, 20);
  MUST_RUN();
  std::vector<uint32_t> want(3 * 64);
  for (int k = 0; k < 3 * 64; ++k)
    for (int i = 0; i < 20; ++i) want[k] = want[k] * (i % 2 ? 5 : 3) + mix(i * 64 + 63 - k % 64);
  expect_equal("double buffer", out.copy(), want);
  halves<<<1, 128>>>(other);
  MUST_RUN();
  std::vector<uint32_t> v(128);
  for (int t = 0; t < 128; ++t) v[t] = mix(t);
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 3 + 4 * half; ++i) {
      const std::vector<uint32_t> before = v;
      for (int me = 0; me < 64; ++me) v[half * 64 + me] = mix(before[half * 64 + me] + before[half * 64 + (me + 1) % 64]);
    }
  expect_equal("halves of a block", other.copy(), v);
  return finish();
}
