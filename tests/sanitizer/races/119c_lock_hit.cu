// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119
// The lock is taken and given back with relaxed atomics: it keeps others out, but passes nothing on.
#include "../twin.h"

__global__ void kernel(int* lock, int* sum) {
  int taken = 1;
  while (taken) asm volatile("atom.relaxed.gpu.exch.b32 %0, [%1], 1;" : "=r"(taken) : "l"(lock) : "memory");
  *sum += blockIdx.x;  // expect: race-global A, race-global B
  STORE("relaxed.gpu", lock, 0);
}

int main() {
  int *lock = zeros(1), *sum = zeros(1);
  kernel<<<8, 1>>>(lock, sum);
  return ended();
}
