// SPDX-License-Identifier: Apache-2.0
// ours only: a real device hangs for ever here
// A barrier that expects one arrival more than there are threads: its phase can never complete.
#include <cuda/barrier>

#include "program.h"
using namespace program;
#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void stuck(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x + 1);
  __syncthreads();
  barrier.arrive_and_wait();
  out[threadIdx.x] = 1;
}

int main() {
  int* out;
  MUST(cudaMalloc(&out, 64 * sizeof(int)));
  stuck<<<2, 64>>>(out);
  expect("the deadlock ends with an error", cudaDeviceSynchronize() != cudaSuccess);
  return finish();
}
