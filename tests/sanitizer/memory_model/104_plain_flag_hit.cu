// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 104
// covers: C1
// Message passing with two plain stores and two plain loads.
#include "../twin.h"

__global__ void kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;  // expect: race-global A
    STORE("weak", flag, 1);  // expect: race-global C
  } else {
    int seen = 0;
    for (int i = 0; i < 1000 && !seen; ++i) LOAD(seen, "weak", flag);  // expect: race-global D
    *out = *data;  // expect: race-global B
  }
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, flag, out);
  return ended();
}
