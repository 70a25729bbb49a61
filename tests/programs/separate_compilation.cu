// SPDX-License-Identifier: Apache-2.0
// flags: -rdc=true
// Relocatable device code: extern functions and variables, defined below their use, and a function pointer across them.
#include "program.h"
using namespace program;

extern __device__ uint32_t shared_counter;
extern __constant__ uint32_t factors[4];
extern __device__ uint32_t transform(uint32_t v, int i);
using Op = uint32_t (*)(uint32_t, int);
extern __device__ Op chosen;

__global__ void run(uint32_t* out, const uint32_t* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = transform(in[i], i) + chosen(in[i], i) * factors[i % 4];
  atomicAdd(&shared_counter, 1);
}

__device__ uint32_t shared_counter = 100;
__constant__ uint32_t factors[4] = {3, 5, 7, 9};
__device__ __noinline__ uint32_t transform(uint32_t v, int i) { return mix(v) ^ factors[(v + i) % 4]; }
__device__ __noinline__ uint32_t other(uint32_t v, int i) { return v * 3 + i; }
__device__ Op chosen = other;

int main() {
  const int n = 256;
  const std::vector<uint32_t> in = random_words(n, 40);
  Device<uint32_t> from(in), out(n);
  run<<<4, 64>>>(out, from);
  MUST_RUN();
  const uint32_t f[4] = {3, 5, 7, 9};
  std::vector<uint32_t> want(n);
  for (int i = 0; i < n; ++i) want[i] = (mix(in[i]) ^ f[(in[i] + i) % 4]) + (in[i] * 3 + i) * f[i % 4];
  expect_equal("linked device code", out.copy(), want);
  uint32_t counted = 0;
  MUST(cudaMemcpyFromSymbol(&counted, shared_counter, 4));
  expect("counter", counted == 100 + n);
  return finish();
}
