// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 119
// It acquires.
#include <cuda/atomic>
#include "../twin.h"
using A = cuda::atomic<int, cuda::thread_scope_device>;
__device__ A want[2], turn;
__global__ void kernel(int* data) {
  if (threadIdx.x) return;
  const int me = blockIdx.x, he = 1 - me;
  for (int i = 0; i < 4; ++i) {
    want[me].store(1, cuda::memory_order_relaxed);
    turn.store(he, cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    while (want[he].load(cuda::memory_order_acquire) && turn.load(cuda::memory_order_acquire) == he) ;
    data[0] = data[0] + 1;
    want[me].store(0, cuda::memory_order_release);
  }
}
int main() {
  int* data = zeros(1);
  kernel<<<2, 32>>>(data);
  return judge(data, 1, [](int) { return 8; });
}
