// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 118
// may: uninitialised-load
// A latch is counted down and not waited for.
#include <cuda/latch>
#include <cuda/semaphore>
#include "../twin.h"
__device__ cuda::binary_semaphore<cuda::thread_scope_device> sem{1};
__global__ void kernel(int* total, int* out) {
  __shared__ cuda::latch<cuda::thread_scope_block>* l;
  __shared__ alignas(16) char room[sizeof(cuda::latch<cuda::thread_scope_block>)];
  __shared__ int s[64];
  if (threadIdx.x == 0) l = new (room) cuda::latch<cuda::thread_scope_block>(64);
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;  // expect: race-shared A
  l->count_down();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];  // expect: race-shared B
  if (threadIdx.x == 0) { sem.acquire(); *total += 1; sem.release(); }
}
int main() {
  int *total = zeros(1), *out = zeros(256);
  kernel<<<4, 64>>>(total, out);
  return ended();
}
