// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 130
// As many come to the latch as it expects, the last one late.
#include <cuda/latch>
#include <new>

#include "../twin.h"

using Latch = cuda::latch<cuda::thread_scope_device>;

__global__ void begin(Latch* latch, int n) { new (latch) Latch(n); }

__global__ void kernel(Latch* latch, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    const long long from = clock64();
    while (clock64() - from < 5000000) {
    }
  }
  latch->count_down();
  latch->wait();
  out[blockIdx.x] = 1;
}

int main() {
  int *words = zeros(16), *out = zeros(4);
  auto* latch = reinterpret_cast<Latch*>(words);
  begin<<<1, 1>>>(latch, 4);
  kernel<<<4, 32>>>(latch, out);
  return judge(out, 4, [](int) { return 1; });
}
