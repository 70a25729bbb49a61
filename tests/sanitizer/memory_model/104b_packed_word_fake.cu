// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 104
// Both in one word of 64 bits: a relaxed load has both.
#include <cuda/atomic>
#include "../twin.h"
__global__ void kernel(unsigned long long* st, int* out) {
  const int b = blockIdx.x;
  if (threadIdx.x) return;
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> mine(st[2 * b]);
  mine.store(1ull << 32 | unsigned(b + 1), cuda::memory_order_relaxed);
  int sum = b + 1;
  for (int p = b - 1; p >= 0; --p) {
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> his(st[2 * p]);
    unsigned long long v;
    while (!(v = his.load(cuda::memory_order_relaxed))) ;
    sum += int(v);
  }
  out[b] = sum;
}
int main() {
  auto* st = (unsigned long long*)zeros(128);
  int* out = zeros(32);
  kernel<<<32, 32>>>(st, out);
  return judge(out, 32, [](int i) { return (i + 1) * (i + 2) / 2; });
}
