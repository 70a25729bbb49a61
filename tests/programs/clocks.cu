// SPDX-License-Identifier: Apache-2.0
// Clocks advance, never run backwards, and can be waited for; __nanosleep returns.
#include "program.h"
using namespace program;

__global__ void clocks(int* ok) {
  const long long start = clock64();
  const clock_t short_start = clock();
  uint64_t t0, t1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  __nanosleep(1000);
  while (clock64() - start < 20000) {}
  long long last = clock64();
  bool forward = true;
  for (int i = 0; i < 100; ++i) {
    const long long now = clock64();
    forward &= now >= last;
    last = now;
  }
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
  while (t1 - t0 < 20000);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  ok[i] = forward && clock() - short_start != 0 && last - start >= 20000;
}

int main() {
  Device<int> ok(128);
  clocks<<<2, 64>>>(ok);
  MUST_RUN();
  expect_equal("every thread", ok.copy(), std::vector<int>(128, 1));
  return finish();
}
