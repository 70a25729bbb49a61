// SPDX-License-Identifier: Apache-2.0
// Chains of blocks that run backwards, as in spin_higher_cta, but each turn of a waiting loop has barriers of the
// block: each thread tests for itself, one thread tests for all, or it takes a lock for all.
#include "program.h"
using namespace program;

__global__ void each_looks(volatile int* flag) {
  const int b = blockIdx.x;
  for (bool done = false; !done;) {
    const int v = b == gridDim.x - 1 ? 0 : flag[b + 1];
    if (v >= 0) {
      if (threadIdx.x == 0) flag[b] = v + 1;
      done = true;
    }
    __syncthreads();
  }
}

__global__ void one_looks(volatile int* flag) {
  __shared__ int v;
  const int b = blockIdx.x;
  for (;;) {
    if (threadIdx.x == 0) v = b == gridDim.x - 1 ? 0 : flag[b + 1];
    __syncthreads();
    if (v >= 0) break;
    __syncthreads();
  }
  if (threadIdx.x == 0) flag[b] = v + 1;
}

__global__ void one_looks_atomically(int* flag) {
  __shared__ bool there;
  const int b = blockIdx.x;
  do {
    __syncthreads();
    if (threadIdx.x == 0) there = b == gridDim.x - 1 || atomicAdd(&flag[b + 1], 0) >= 0;
    __syncthreads();
  } while (!there);
  if (threadIdx.x == 0) atomicExch(&flag[b], b == gridDim.x - 1 ? 1 : atomicAdd(&flag[b + 1], 0) + 1);
}

__device__ int took;
__global__ void turns(int* turn) {  // of the highest block first
  __shared__ int mine;
  do {
    if (threadIdx.x == 0) mine = atomicCAS(turn, gridDim.x - 1 - blockIdx.x, -1) == gridDim.x - 1 - blockIdx.x;
    __syncthreads();
    if (mine) break;
    __syncthreads();
  } while (true);
  took = took + (threadIdx.x == 0);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(turn, gridDim.x - blockIdx.x);
}

__global__ void together(volatile int* flag) {
  const int b = blockIdx.x;
  while (!__syncthreads_or(threadIdx.x == 5 && (b == gridDim.x - 1 || flag[b + 1] >= 0))) {}
  if (threadIdx.x == 0) flag[b] = (b == gridDim.x - 1 ? 0 : flag[b + 1]) + 1;
}

template <typename F>
void chain(const char* name, F kernel, int blocks) {
  Device<int> flag(blocks);
  MUST(cudaMemset(flag, 0xff, blocks * sizeof(int)));
  kernel<<<blocks, 256>>>(flag);
  MUST_RUN();
  std::vector<int> want(blocks);
  for (int b = 0; b < blocks; ++b) want[b] = blocks - b;
  expect_equal(name, flag.copy(), want);
}

int main() {
  const int blocks = 24;
  chain("each thread looks", each_looks, blocks);
  chain("one thread looks", one_looks, blocks);
  chain("one thread looks with an atomic", one_looks_atomically, blocks);
  chain("the barrier tells", together, blocks);
  Device<int> turn(1);
  MUST(cudaMemset(turn, 0, sizeof(int)));
  turns<<<blocks, 256>>>(turn);
  MUST_RUN();
  expect_equal("turns", turn.copy(), std::vector<int>{blocks});
  return finish();
}
