// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 104
// The flag is strong but relaxed, without any fence: it orders nothing.
#include "../twin.h"

__global__ void kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;  // expect: race-global A
    STORE("relaxed.gpu", flag, 1);
  } else {
    int seen = 0;
    while (!seen) LOAD(seen, "relaxed.gpu", flag);
    *out = *data;  // expect: race-global B
  }
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, flag, out);
  return ended();
}
