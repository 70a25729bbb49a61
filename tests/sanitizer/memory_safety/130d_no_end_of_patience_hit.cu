// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 130
// hangs
// A thread waits for a flag that nobody sets. It notes how long, and never gives up.
#include <cuda/atomic>

#include "../twin.h"

__global__ void kernel(int* word, long long* waited) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*word);
  const long long from = clock64();
  while (flag.load(cuda::memory_order_acquire) == 0) waited[0] = clock64() - from;  // expect: deadlock
  word[1] = 1;
}

int main() {
  int* word = zeros(2);
  kernel<<<1, 1>>>(word, device<long long>(1, [](int) { return 0; }));
  return ended();
}
