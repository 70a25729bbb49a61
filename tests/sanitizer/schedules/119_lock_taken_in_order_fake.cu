// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 119
// options: --explore 32
// Both accesses lie where the lock is held.
#include "../twin.h"

__global__ void kernel(int* data, int* lock, int* count, int* out) {
  while (atomicCAS(lock, 0, 1)) {
  }
  __threadfence();
  ++*count;
  if (blockIdx.x == 0) *data = 1;
  if (blockIdx.x == 1) *out = *data + 2;
  __threadfence();
  atomicExch(lock, 0);
}

int main() {
  int *data = zeros(1), *lock = zeros(1), *count = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, lock, count, out);
  return judge(count, 1, [](int) { return 2; });
}
