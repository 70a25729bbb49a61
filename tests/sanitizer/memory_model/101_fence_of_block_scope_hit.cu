// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 101
// covers: C3
// The flag goes from block to block, the fence before it reaches only the block of the writer.
#include "../twin.h"

__global__ void kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;  // expect: race-scope A
    FENCE("acq_rel.cta");
    STORE("relaxed.gpu", flag, 1);
  } else {
    int seen = 0;
    while (!seen) LOAD(seen, "acquire.gpu", flag);
    *out = *data;  // expect: race-scope B
  }
}

int main() {
  int *data = zeros(1), *flag = zeros(1), *out = zeros(1);
  kernel<<<2, 1>>>(data, flag, out);
  return ended();
}
