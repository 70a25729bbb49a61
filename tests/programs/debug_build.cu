// SPDX-License-Identifier: Apache-2.0
// flags: -G
// Unoptimised device code with full debug information: generic addresses everywhere, every call a call,
// locals in memory.
#include "program.h"
using namespace program;

struct Counter {
  uint32_t value;
  __host__ __device__ void step(uint32_t by) { value = value * 3 + by; }
  __host__ __device__ uint32_t result() const { return value ^ (value >> 7); }
};
__host__ __device__ uint32_t fold(const uint32_t* v, int n, Counter& counter) {
  for (int k = 0; k < n; ++k) {
    if (v[k] % 7 == 0) continue;
    if (v[k] % 101 == 0) break;
    counter.step(v[k]);
  }
  return counter.result();
}

__global__ void run(uint32_t* out, const uint32_t* in, int n) {
  __shared__ uint32_t tile[128];
  uint32_t mine[8];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  tile[t] = in[i];
  __syncthreads();
  for (int k = 0; k < 8; ++k) mine[k] = tile[(t + k * 5) % 128];
  Counter counter{uint32_t(i)};
  uint32_t v = fold(mine, 8, counter);
  v += __shfl_xor_sync(~0u, v, 3);
  __syncthreads();
  atomicAdd(&tile[t % 4], v);
  __syncthreads();
  out[i] = v + (t < 4 ? tile[t] : 0);
}

int main() {
  const int n = 512;
  const std::vector<uint32_t> in = random_words(n, 60);
  Device<uint32_t> from(in), out(n);
  run<<<4, 128>>>(out, from, n);
  MUST_RUN();
  std::vector<uint32_t> v(n), want(n);
  for (int i = 0; i < n; ++i) {
    uint32_t mine[8];
    for (int k = 0; k < 8; ++k) mine[k] = in[i / 128 * 128 + (i % 128 + k * 5) % 128];
    Counter counter{uint32_t(i)};
    v[i] = fold(mine, 8, counter);
  }
  for (int i = 0; i < n; ++i) want[i] = v[i] + v[i ^ 3];
  const std::vector<uint32_t> once = want;
  for (int b = 0; b < n; b += 128)
    for (int k = 0; k < 4; ++k) {
      want[b + k] += in[b + k];
      for (int t = k; t < 128; t += 4) want[b + k] += once[b + t];
    }
  expect_equal("debug build", out.copy(), want);
  return finish();
}
