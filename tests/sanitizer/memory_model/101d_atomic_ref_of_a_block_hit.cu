// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 101
// may: race-scope
// A message between blocks, published by an atomic_ref of block or of device scope.
#include <cuda/atomic>
#include "../twin.h"

__global__ void kernel(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x + 1;  // expect: race-scope A
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_block> g(*flag);
    if (threadIdx.x == 0) g.store(1, cuda::memory_order_release);
  } else {
    if (threadIdx.x == 0)
      while (f.load(cuda::memory_order_acquire) == 0) {}
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];  // expect: race-scope B
  }
}

int main() {
  int *data = zeros(64), *flag = zeros(1), *out = zeros(64);
  kernel<<<2, 64>>>(data, flag, out);
  return ended();
}
