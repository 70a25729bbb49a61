// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 119
// With acquire and release.
#include "../twin.h"

__global__ void kernel(int* lock, int* sum) {
  int taken = 1;
  while (taken) asm volatile("atom.acquire.gpu.exch.b32 %0, [%1], 1;" : "=r"(taken) : "l"(lock) : "memory");
  *sum += blockIdx.x;
  STORE("release.gpu", lock, 0);
}

int main() {
  int *lock = zeros(1), *sum = zeros(1);
  kernel<<<8, 1>>>(lock, sum);
  return judge(sum, 1, [](int) { return 28; });
}
