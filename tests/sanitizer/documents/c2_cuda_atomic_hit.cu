// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 104, 101
// covers: C2, C3
// Attempt: cuda::atomic_ref, released and acquired, of block scope between blocks.

#include <cuda/atomic>

#include "../twin.h"
using Flag = cuda::atomic_ref<int, cuda::thread_scope_block>;

__global__ void kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;  // expect: race-scope A
    Flag(*flag).store(1, cuda::memory_order_release);  // expect: race-scope C
  } else {
    for (int i = 0; i < 1000; ++i) {
      if (Flag(*flag).load(cuda::memory_order_acquire)) break;  // expect: race-scope D
    }
    *out = *data;  // expect: race-scope B
  }
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, flag, out);
  return ended();
}
