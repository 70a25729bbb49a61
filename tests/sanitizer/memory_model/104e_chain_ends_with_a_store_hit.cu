// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 104
// Many threads release what they have written by one chain of atomics, which ends with the plain store of another
// thread: who acquires that store learns of that thread alone.
#include "../twin.h"

constexpr int kThreads = 64;

__global__ void kernel(int* data, int* count, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 1;  // expect: race-global A
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
  } else if (blockIdx.x == 1 && threadIdx.x == 0) {
    int n;
    do LOAD(n, "relaxed.gpu", count);
    while (n < kThreads);
    STORE("release.gpu", count, 1000);
  } else if (blockIdx.x == 2 && threadIdx.x == 0) {
    int n, sum = 0;
    do LOAD(n, "acquire.gpu", count);
    while (n < 1000);
    for (int i = 0; i < kThreads; i++) sum += data[i];  // expect: race-global B
    *out = sum;
  }
}

int main() {
  int *data = zeros(kThreads), *count = zeros(1), *out = zeros(1);
  kernel<<<3, kThreads>>>(data, count, out);
  return ended();
}
