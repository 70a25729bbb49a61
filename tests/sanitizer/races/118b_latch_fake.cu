// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// arrive_and_wait.
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
  s[threadIdx.x] = threadIdx.x;
  l->arrive_and_wait();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  if (threadIdx.x == 0) { sem.acquire(); *total += 1; sem.release(); }
}
int main() {
  int *total = zeros(1), *out = zeros(256);
  kernel<<<4, 64>>>(total, out);
  return judge(out, 256, [](int i) { return 63 - i % 64; });
}
