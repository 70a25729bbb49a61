// SPDX-License-Identifier: Apache-2.0
// All threads of a block check what a barrier guarantees, and then fill the same memory without a barrier in between.
// The programming model promises nothing here, but on hardware warps leave a barrier together, and tests of libcu++
// rely on it (group_memcpy_async). Once in a function that is called, once with threads that wait for each other.
#include "program.h"
using namespace program;

constexpr int kThreads = 128;

__device__ __noinline__ int check_and_fill(int* memory, int expected, int next) {
  int wrong = 0;
  for (int i = 0; i < kThreads; ++i) wrong += memory[i] != expected + i;
  memory[threadIdx.x] = next + threadIdx.x;
  __syncthreads();
  return wrong;
}

__global__ void called(int* out) {
  __shared__ int memory[kThreads];
  if (threadIdx.x == 0)
    for (int i = 0; i < kThreads; ++i) memory[i] = i;
  __syncthreads();
  int wrong = 0;
  for (int k = 0; k < 4; ++k) wrong += check_and_fill(memory, 10 * k, 10 * (k + 1));
  out[threadIdx.x] = wrong;
}

__global__ void with_lock(int* out, int* lock) {
  __shared__ int memory[kThreads];
  if (threadIdx.x == 0)
    for (int i = 0; i < kThreads; ++i) memory[i] = i;
  __syncthreads();
  int* generic = memory + *lock;
  int wrong = 0;
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < kThreads; ++i) wrong += generic[i] != 10 * k + i;
    generic[threadIdx.x] = 10 * (k + 1) + threadIdx.x;
    __syncthreads();
  }
  while (atomicCAS(lock, 0, 1)) {
  }
  out[kThreads] += wrong;  // lanes of a warp one after the other
  __threadfence();
  atomicExch(lock, 0);
  out[threadIdx.x] = wrong;
}

int main() {
  int *out, *lock;
  MUST(cudaMalloc(&out, sizeof(int) * (kThreads + 1)));
  MUST(cudaMalloc(&lock, sizeof(int)));
  for (int k = 0; k < 2; ++k) {
    MUST(cudaMemset(out, 0, sizeof(int) * (kThreads + 1)));
    MUST(cudaMemset(lock, 0, sizeof(int)));
    if (k)
      with_lock<<<1, kThreads>>>(out, lock);
    else
      called<<<1, kThreads>>>(out);
    MUST_RUN();
    std::vector<int> got(kThreads + 1);
    MUST(cudaMemcpy(got.data(), out, sizeof(int) * got.size(), cudaMemcpyDeviceToHost));
    expect_equal(k ? "with a lock" : "in a function", got, std::vector<int>(kThreads + 1, 0));
  }
  return finish();
}
