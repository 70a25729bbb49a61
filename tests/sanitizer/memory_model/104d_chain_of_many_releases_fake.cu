// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 104
// Many threads release what they have written, several times each, by one chain of atomics; one thread acquires it all.
#include "../twin.h"

constexpr int kThreads = 64, kEach = 4, kAll = kThreads * kEach;

__global__ void kernel(int* data, int* count, int* out) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < kEach; i++) {
      data[threadIdx.x * kEach + i] = 1;
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
    }
  } else if (threadIdx.x == 0) {
    int n, sum = 0;
    do LOAD(n, "acquire.gpu", count);
    while (n < kAll);
    for (int i = 0; i < kAll; i++) sum += data[i];
    *out = sum;
  }
}

int main() {
  int *data = zeros(kAll), *count = zeros(1), *out = zeros(1);
  kernel<<<2, kThreads>>>(data, count, out);
  return judge(out, 1, [](int) { return kAll; });
}
