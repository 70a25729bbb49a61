// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 104
// may: race-global
// A flag and its value are two words, and the flag is relaxed.
#include <cuda/atomic>
#include "../twin.h"
struct S { unsigned long long flag; unsigned long long value; };
__global__ void kernel(unsigned long long* st, int* out) {
  const int b = blockIdx.x;
  if (threadIdx.x) return;
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> mine(st[2 * b]);
  st[2 * b + 1] = b + 1;  // expect: race-global A
  mine.store(1, cuda::memory_order_relaxed);
  int sum = b + 1;
  for (int p = b - 1; p >= 0; --p) {
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> his(st[2 * p]);
    unsigned long long v;
    while (!(v = his.load(cuda::memory_order_relaxed))) ;
    sum += int(st[2 * p + 1]);  // expect: race-global B
  }
  out[b] = sum;
}
int main() {
  auto* st = (unsigned long long*)zeros(128);
  int* out = zeros(32);
  kernel<<<32, 32>>>(st, out);
  return ended();
}
