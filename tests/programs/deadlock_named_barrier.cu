// SPDX-License-Identifier: Apache-2.0
// ours only: a real device hangs for ever here
// Warps 0..2 wait at barrier 1 for a fourth warp, warp 3 waits at barrier 2 for a second one.
// The launch must end with an error.
#include "program.h"
using namespace program;

__global__ void stuck(int* out) {
  if (threadIdx.x < 96) asm volatile("bar.sync 1, 128;" ::: "memory");
  else asm volatile("bar.sync 2, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}

__global__ void healthy(int* out) {
  __syncthreads();
  out[threadIdx.x] = threadIdx.x;
}

int main() {
  int* out;
  MUST(cudaMalloc(&out, 128 * sizeof(int)));
  stuck<<<1, 128>>>(out);
  expect("the deadlock ends with an error", cudaDeviceSynchronize() != cudaSuccess);
  expect("the error stays", cudaDeviceSynchronize() != cudaSuccess);
  cudaDeviceReset();
  (void)cudaGetLastError();
  MUST(cudaMalloc(&out, 128 * sizeof(int)));
  healthy<<<1, 128>>>(out);
  MUST_RUN();
  int got[128];
  MUST(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  expect("after a reset a kernel runs", got[127] == 127);
  return finish();
}
