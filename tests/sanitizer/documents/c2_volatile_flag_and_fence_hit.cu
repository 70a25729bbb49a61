// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 104
// covers: C2
// Attempt: volatile flag and fences. Works on today's hardware, is a race of C++: a warning.
#include "../twin.h"

__global__ void kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    *(volatile int*)flag = 1;  // expect: race-volatile A
  } else {
    while (*(volatile int*)flag == 0) {  // expect: race-volatile B
    }
    __threadfence();
    *out = *data;
  }
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, flag, out);
  return ended();
}
