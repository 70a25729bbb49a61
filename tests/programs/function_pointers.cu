// SPDX-License-Identifier: Apache-2.0
// Calls through pointers: tables in device and constant memory, pointers chosen lane by lane,
// pointers passed from the host.
#include "program.h"
using namespace program;

using Op = uint32_t (*)(uint32_t, uint32_t);
__host__ __device__ __noinline__ uint32_t add(uint32_t a, uint32_t b) { return a + b; }
__host__ __device__ __noinline__ uint32_t multiply(uint32_t a, uint32_t b) { return a * b; }
__host__ __device__ __noinline__ uint32_t scramble(uint32_t a, uint32_t b) { return mix(a ^ b); }
__host__ __device__ __noinline__ uint32_t loop(uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < b % 13; ++k) a = a * 3 + k;
  return a;
}

__device__ Op table[4] = {add, multiply, scramble, loop};
__constant__ Op constant_table[2] = {scramble, add};
__device__ Op exported = loop;

__global__ void divergent(uint32_t* out, const uint32_t* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t v = in[i];
  for (int k = 0; k < 6; ++k) v = table[v % 4](v, in[i] >> k);
  v = constant_table[v & 1](v, i);
  out[i] = v;
}

__global__ void from_host(uint32_t* out, const uint32_t* in, Op op) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = op(in[i], i);
}

struct Pair { uint32_t a, b; double c; };
__host__ __device__ __noinline__ Pair twist(Pair p, int by) { return {p.b + by, p.a ^ by, p.c * 0.5 + by}; }
__host__ __device__ __noinline__ Pair swap(Pair p, int) { return {p.b, p.a, -p.c}; }

__global__ void structs(Pair* out, bool which) {
  const int i = threadIdx.x;
  Pair (*f)(Pair, int) = (i + which) % 3 ? twist : swap;
  Pair p{mix(i), mix(i + 1), double(i)};
  for (int k = 0; k < 5; ++k) p = f(p, k + i);
  out[i] = p;
}

int main() {
  const Op host_table[4] = {add, multiply, scramble, loop}, host_constant[2] = {scramble, add};
  const int n = 192;
  const std::vector<uint32_t> in = random_words(n, 4);
  std::vector<uint32_t> want(n);
  Device<uint32_t> from(in), out(n);
  divergent<<<3, 64>>>(out, from);
  MUST_RUN();
  for (int i = 0; i < n; ++i) {
    uint32_t v = in[i];
    for (int k = 0; k < 6; ++k) v = host_table[v % 4](v, in[i] >> k);
    want[i] = host_constant[v & 1](v, i);
  }
  expect_equal("pointer by lane", out.copy(), want);
  Op op;
  MUST(cudaMemcpyFromSymbol(&op, exported, sizeof op));
  from_host<<<3, 64>>>(out, from, op);
  MUST_RUN();
  for (int i = 0; i < n; ++i) want[i] = loop(in[i], i);
  expect_equal("pointer through the host", out.copy(), want);
  Device<Pair> pairs(64);
  structs<<<1, 64>>>(pairs, true);
  MUST_RUN();
  std::vector<Pair> wanted(64);
  for (int i = 0; i < 64; ++i) {
    wanted[i] = {mix(i), mix(i + 1), double(i)};
    for (int k = 0; k < 5; ++k) wanted[i] = (i + 1) % 3 ? twist(wanted[i], k + i) : swap(wanted[i], 0);
  }
  expect_equal("structs by value", pairs.copy(), wanted);
  return finish();
}
