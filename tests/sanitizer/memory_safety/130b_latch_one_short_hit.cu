// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 130
// hangs
// A latch expects one more than come: who waits for it looks again and again, by the clock.
#include <cuda/latch>
#include <new>

#include "../twin.h"

using Latch = cuda::latch<cuda::thread_scope_device>;

__global__ void begin(Latch* latch, int n) { new (latch) Latch(n); }

__global__ void kernel(Latch* latch, int* out) {
  if (threadIdx.x != 0) return;
  latch->count_down();
  latch->wait();  // expect: deadlock
  out[blockIdx.x] = 1;
}

int main() {
  int *words = zeros(16), *out = zeros(4);
  auto* latch = reinterpret_cast<Latch*>(words);
  begin<<<1, 1>>>(latch, 5);
  kernel<<<4, 32>>>(latch, out);
  return ended();
}
