// SPDX-License-Identifier: Apache-2.0
// A6: two kernels that leave most of each multiprocessor free, in turn in two streams: with one split of L1 and shared
// memory, with two that cudaFuncSetCacheConfig demands, and with two that are hints.
#include "effects.h"

template <int kWhich>
__global__ void busy(float* out, int n) {
  __shared__ float own[64];
  own[threadIdx.x] = float(threadIdx.x);
  __syncthreads();
  float x = own[threadIdx.x ^ 1];
#pragma unroll 1
  for (int k = 0; k < n; ++k) x = x * 0.5f + 1.0f;
  out[(kWhich * gridDim.x + blockIdx.x) * 64 + threadIdx.x] = x;
}

// ROUNDS [CTAS OF EACH KERNEL]: with 132 each multiprocessor has one of both.
int main(int argc, char** argv) {
  arguments(argc, argv);
  const int ctas = argc > 2 ? std::atoi(argv[2]) : 132;
  float* out;
  MUST(cudaMalloc(&out, 2 * ctas * 256));
  cudaStream_t s, a, b;
  cudaEvent_t fork, join_a, join_b;
  for (auto* t : {&s, &a, &b}) MUST(cudaStreamCreateWithFlags(t, cudaStreamNonBlocking));
  for (auto* e : {&fork, &join_a, &join_b}) MUST(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
  constexpr int kTurns = 4096, kPairs = 16;  // about 45 us a kernel
  const auto both = [&](bool first, bool second) {
    delay<><<<1, 1, 0, s>>>(400000);  // until all is submitted
    MUST(cudaEventRecord(fork, s));
    MUST(cudaStreamWaitEvent(a, fork)), MUST(cudaStreamWaitEvent(b, fork));
    for (int k = 0; k < kPairs; ++k) {
      if (first) busy<0><<<ctas, 64, 0, a>>>(out, kTurns);
      if (second) busy<1><<<ctas, 64, 0, b>>>(out, kTurns);
    }
    MUST(cudaEventRecord(join_a, a)), MUST(cudaEventRecord(join_b, b));
    MUST(cudaStreamWaitEvent(s, join_a)), MUST(cudaStreamWaitEvent(s, join_b));
  };
  const auto configs = [](cudaFuncCache x, cudaFuncCache y) { MUST(cudaFuncSetCacheConfig(busy<0>, x)), MUST(cudaFuncSetCacheConfig(busy<1>, y)); };
  const auto hints = [](int x, int y) {
    MUST(cudaFuncSetAttribute(busy<0>, cudaFuncAttributePreferredSharedMemoryCarveout, x));
    MUST(cudaFuncSetAttribute(busy<1>, cudaFuncAttributePreferredSharedMemoryCarveout, y));
  };
  tell("delay_only", microseconds(s, [&] { both(false, false); }));
  tell("one_kernel", microseconds(s, [&] { both(true, false); }));
  tell("same", microseconds(s, [&] { both(true, true); }));
  configs(cudaFuncCachePreferL1, cudaFuncCachePreferL1);
  tell("configs_equal", microseconds(s, [&] { both(true, true); }));
  configs(cudaFuncCachePreferL1, cudaFuncCachePreferShared);
  tell("configs_differ", microseconds(s, [&] { both(true, true); }));
  configs(cudaFuncCachePreferNone, cudaFuncCachePreferNone);
  hints(0, 0);
  tell("hints_equal", microseconds(s, [&] { both(true, true); }));
  hints(0, 100);
  tell("hints_differ", microseconds(s, [&] { both(true, true); }));
  std::vector<float> got(2 * ctas * 64);
  MUST(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  for (float f : got) check(f == 2.0f, "fixed point");
  std::puts("ok");
}
