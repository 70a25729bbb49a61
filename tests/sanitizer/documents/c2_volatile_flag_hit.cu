// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 104
// covers: C2
// Attempt: volatile flag without a fence. The data are a race, the flag gets a warning.
#include "../twin.h"

__global__ void kernel(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;  // expect: race-global A
    *flag = 1;   // expect: race-volatile A
  } else {
    while (*flag == 0) {  // expect: race-volatile B
    }
    *out = *data;  // expect: race-global B
  }
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, flag, out);
  return ended();
}
