// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119
// options: --explore 32
// A block writes before its turn with the lock, another reads behind its own: ordered only if the first comes first.
#include "../twin.h"

__device__ void turn(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1)) {
  }
  __threadfence();
  ++*count;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void kernel(int* data, int* lock, int* count, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;  // expect: race-global A
    turn(lock, count);
  } else {
    turn(lock, count);
    *out = *data;  // expect: race-global B
  }
}

int main() {
  int *data = zeros(1), *lock = zeros(1), *count = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, lock, count, out);
  return ended();
}
