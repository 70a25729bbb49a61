// SPDX-License-Identifier: Apache-2.0
// ours only: a real device hangs for ever here
// Waits that only read the clock between two looks at memory which nobody changes: with a time limit they go on,
// without one they are a deadlock.
#include <cuda/atomic>

#include "program.h"
using namespace program;

using Flag = cuda::atomic<int, cuda::thread_scope_device>;

__global__ void patient(Flag* flag, int* out) {
  const long long from = clock64();
  while (flag->load(cuda::memory_order_acquire) == 0 && clock64() - from < 40'000'000'000) __nanosleep(200);
  out[blockIdx.x] = 1;
}

__global__ void stuck(Flag* flag, int* out) {
  flag->wait(0, cuda::memory_order_acquire);
  out[blockIdx.x] = 2;
}

int main() {
  constexpr int kBlocks = 6;
  int* out;
  Flag* flag;
  MUST(cudaMallocManaged(&out, kBlocks * sizeof(int)));
  MUST(cudaMalloc(&flag, sizeof(Flag)));
  MUST(cudaMemset(flag, 0, sizeof(Flag)));
  patient<<<kBlocks, 1>>>(flag, out);
  MUST(cudaDeviceSynchronize());
  int passed = 0;
  for (int k = 0; k < kBlocks; ++k) passed += out[k];
  expect("all blocks gave up waiting", passed == kBlocks);
  stuck<<<kBlocks, 1>>>(flag, out);
  expect("the deadlock ends with an error", cudaDeviceSynchronize() != cudaSuccess);
  return finish();
}
