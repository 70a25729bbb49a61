// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 105
// One block counts with an atomic, another reads the counter plainly at the same time.
#include "../twin.h"

__global__ void kernel(int* count, int* out) {
  if (blockIdx.x == 0) atomicAdd(count, 1);  // expect: race-atomic A
  if (blockIdx.x == 1) *out = *count;        // expect: race-atomic B
}

int main() {
  int *count = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(count, out);
  return ended();
}
