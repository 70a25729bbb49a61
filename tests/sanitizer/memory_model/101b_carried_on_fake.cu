// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 101
// It swaps the flag: that does.
#include <cuda/atomic>
#include "../twin.h"
using A = cuda::atomic<int, cuda::thread_scope_device>;
__device__ A f;
__global__ void kernel(int* data, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) { data[0] = 42; f.store(1, cuda::memory_order_release); }
  if (blockIdx.x == 1) {
    int e = 1; while (!f.compare_exchange_weak(e, 2, cuda::memory_order_relaxed)) e = 1;
  }
  if (blockIdx.x == 2) { while (f.load(cuda::memory_order_acquire) != 2) ; out[0] = data[0]; }
}
int main() {
  int *data = zeros(1), *out = zeros(1);
  kernel<<<3, 32>>>(data, out);
  return judge(out, 1, [](int) { return 42; });
}
