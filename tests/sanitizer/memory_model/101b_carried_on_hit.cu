// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 101
// Another thread stores the flag that it saw: that carries no release on.
#include <cuda/atomic>
#include "../twin.h"
using A = cuda::atomic<int, cuda::thread_scope_device>;
__device__ A f;
__global__ void kernel(int* data, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) { data[0] = 42; f.store(1, cuda::memory_order_release); }  // expect: race-global A
  if (blockIdx.x == 1) {
    while (f.load(cuda::memory_order_relaxed) != 1) ; f.store(2, cuda::memory_order_relaxed);
  }
  if (blockIdx.x == 2) { while (f.load(cuda::memory_order_acquire) != 2) ; out[0] = data[0]; }  // expect: race-global B
}
int main() {
  int *data = zeros(1), *out = zeros(1);
  kernel<<<3, 32>>>(data, out);
  return ended();
}
