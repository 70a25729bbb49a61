// SPDX-License-Identifier: Apache-2.0
// F7: a CTA on each multiprocessor, whose 128 threads bring 2 KiB a stage with cp.async; from 1 stage to 24.
#include <cuda_pipeline_primitives.h>

#include "effects.h"

constexpr int kThreads = 128, kCtas = 132, kTurns = 384;

template <int kStages>
__global__ void ring(const uint4* in, unsigned* out) {
  extern __shared__ uint4 tiles[];
  const uint4* const mine = in + size_t(blockIdx.x) * kTurns * kThreads + threadIdx.x;
  const auto bring = [&](int k) {
    if (k < kTurns) __pipeline_memcpy_async(&tiles[k % kStages * kThreads + threadIdx.x], mine + k * kThreads, 16);
    __pipeline_commit();
  };
  unsigned sum = 0;
  for (int k = 0; k < kStages - 1; ++k) bring(k);
  for (int k = 0; k < kTurns; ++k) {
    bring(k + kStages - 1);
    __pipeline_wait_prior(kStages - 1);
    const uint4 v = tiles[k % kStages * kThreads + threadIdx.x];
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

unsigned *to, want;
uint4* from;
template <int kStages>
void one() {
  MUST(cudaFuncSetAttribute(ring<kStages>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  tell("stages_" + std::to_string(kStages), microseconds(nullptr, [&] { ring<kStages><<<kCtas, kThreads, 100 << 10>>>(from, to); }));
  std::vector<unsigned> got(kCtas * kThreads);
  MUST(cudaMemcpy(got.data(), to, got.size() * 4, cudaMemcpyDeviceToHost));
  unsigned sum = 0;
  for (unsigned g : got) sum += g;
  check(sum == want, "sum of stages " + std::to_string(kStages));
}

int main(int argc, char** argv) {
  arguments(argc, argv);
  const size_t n = size_t(kCtas) * kTurns * kThreads;
  std::vector<uint4> in(n);
  unsigned state = 1;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (uint4& v : in) v = {next(), next(), next(), next()}, want += v.x ^ v.y ^ v.z ^ v.w;
  MUST(cudaMalloc(&from, n * 16)), MUST(cudaMalloc(&to, kCtas * kThreads * 4));
  MUST(cudaMemcpy(from, in.data(), n * 16, cudaMemcpyHostToDevice));
  one<1>(), one<2>(), one<3>(), one<4>(), one<6>(), one<8>(), one<12>(), one<16>(), one<24>();
  std::puts("ok");
}
