// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 130
// A thread waits for a flag that nobody sets, gives up after ten seconds, three times, and goes on.
#include <cuda/atomic>

#include "../twin.h"

__global__ void kernel(int* word, long long* waited) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*word);
  for (int k = 0; k < 3; ++k) {
    const long long from = clock64();
    while (flag.load(cuda::memory_order_acquire) == 0 && clock64() - from < 18'000'000'000) {
      waited[0] = clock64() - from;
      __nanosleep(100);
    }
  }
  word[1] = 1;
}

int main() {
  int* word = zeros(2);
  kernel<<<1, 1>>>(word, device<long long>(1, [](int) { return 0; }));
  return judge(word, 2, [](int i) { return i; });
}
