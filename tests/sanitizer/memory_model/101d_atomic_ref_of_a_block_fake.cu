// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 101
// A message between blocks, published by an atomic_ref of block or of device scope.
#include <cuda/atomic>
#include "../twin.h"

__global__ void kernel(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) f.store(1, cuda::memory_order_release);
  } else {
    if (threadIdx.x == 0)
      while (f.load(cuda::memory_order_acquire) == 0) {}
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
  }
}

int main() {
  int *data = zeros(64), *flag = zeros(1), *out = zeros(64);
  kernel<<<2, 64>>>(data, flag, out);
  return judge(out, 64, [](int i) { return i + 1; });
}
