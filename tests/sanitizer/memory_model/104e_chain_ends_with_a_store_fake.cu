// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 104
// Many threads release what they have written by one chain of atomics, which goes on with the exchange of
// another thread, or ends with its store behind an acquire: who acquires that learns of them all.
#include "../twin.h"

constexpr int kThreads = 64;

__global__ void kernel(int* data, int* count, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 1;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
    data[kThreads + threadIdx.x] = 1;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count + 1) : "memory");
  } else if (blockIdx.x == 1 && threadIdx.x == 0) {
    int n;
    do LOAD(n, "relaxed.gpu", count);
    while (n < kThreads);
    asm volatile("atom.relaxed.gpu.exch.b32 %0, [%1], 1000;" : "=r"(n) : "l"(count) : "memory");
    do LOAD(n, "acquire.gpu", count + 1);
    while (n < kThreads);
    STORE("release.gpu", count + 1, 1000);
  } else if (blockIdx.x == 2 && threadIdx.x == 0) {
    int n, sum = 0;
    do LOAD(n, "acquire.gpu", count);
    while (n < 1000);
    for (int i = 0; i < kThreads; i++) sum += data[i];
    do LOAD(n, "acquire.gpu", count + 1);
    while (n < 1000);
    for (int i = 0; i < kThreads; i++) sum += data[kThreads + i];
    *out = sum;
  }
}

int main() {
  int *data = zeros(2 * kThreads), *count = zeros(2), *out = zeros(1);
  kernel<<<3, kThreads>>>(data, count, out);
  return judge(out, 1, [](int) { return 2 * kThreads; });
}
