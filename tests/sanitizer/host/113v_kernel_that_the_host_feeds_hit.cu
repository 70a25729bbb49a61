// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// A kernel that runs is fed by a copy that the host does not wait for before it gives the word.
#include "../twin.h"

__global__ void serve(volatile unsigned* turn, volatile unsigned* done, const int* in, int* sum) {
  if (threadIdx.x == 0) {
    while (*turn == 0) {
    }
    __threadfence_system();
  }
  __syncthreads();
  sum[threadIdx.x] += in[threadIdx.x];  // expect: race-host A
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    *done = 1;
  }
}

int main() {
  int *in = zeros(64), *sum = zeros(64), *from;
  unsigned* words;
  must(cudaHostAlloc(&words, 4096, cudaHostAllocMapped), "cudaHostAlloc");
  must(cudaHostAlloc(&from, 256, cudaHostAllocMapped), "cudaHostAlloc");
  words[0] = words[16] = 0;
  volatile unsigned *turn = words, *done = words + 16;
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  serve<<<1, 64, 0, a>>>(turn, done, in, sum);
  for (int k = 0; k < 64; ++k) from[k] = k + 1;
  cudaMemcpyAsync(in, from, 256, cudaMemcpyHostToDevice, b);  // expect: race-host B
  *turn = 1;
  while (*done == 0) {
  }
  must(cudaStreamSynchronize(a), "cudaStreamSynchronize");
  return ended();
}
