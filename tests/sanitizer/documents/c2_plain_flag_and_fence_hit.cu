// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 104
// covers: C2
// Attempt: plain flag, and fences. The fences do not help: the flag itself is a race.
#include "../twin.h"

__global__ void kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;  // expect: race-global A
    __threadfence();
    *flag = 1;  // expect: race-global C
  } else {
    // What compilers make of while (*flag == 0): one look.
    const int seen = *flag;  // expect: race-global D
    __threadfence();
    *out = *data + seen;  // expect: race-global B
  }
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, flag, out);
  return ended();
}
