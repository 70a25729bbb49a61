// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 130
// A kernel waits by the clock for what another thread of the program sets after fifteen seconds, while the first one
// waits for the kernel.
#include <cuda/atomic>
#include <unistd.h>

#include <thread>

#include "../twin.h"

__global__ void kernel(int* word, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_system> flag(*word);
  flag.wait(0, cuda::memory_order_acquire);
  out[0] = 1;
}

int main() {
  int *word = nullptr, *out = zeros(1);
  must(cudaMallocHost(&word, sizeof(int)), "cudaMallocHost");
  *word = 0;
  kernel<<<1, 1>>>(word, out);
  std::thread late([&] {
    sleep(15);
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  });
  const int result = judge(out, 1, [](int) { return 1; });
  late.join();
  return result;
}
