// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 104, 101
// covers: C2, C3
// Attempt: cuda::atomic_ref, released and acquired, of device scope. Correct.

#include <cuda/atomic>

#include "../twin.h"
using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    Flag(*flag).store(1, cuda::memory_order_release);
  } else {
    while (Flag(*flag).load(cuda::memory_order_acquire) == 0) {
    }
    *out = *data;
  }
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, flag, out);
  return judge(out, 1, [](int) { return 42; });
}
