// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 101
// covers: C4, C3
// Release and acquire of block scope, then of device scope: the chain holds for the reader of another block.
#include "../twin.h"

__global__ void kernel(int* data, int* flags, int* out) {
  int seen = 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *data = 42;
    STORE("release.cta", flags, 1);
  } else if (blockIdx.x == 0 && threadIdx.x == 32) {
    while (!seen) LOAD(seen, "acquire.cta", flags);
    STORE("release.gpu", flags + 1, 1);
  } else if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (!seen) LOAD(seen, "acquire.gpu", flags + 1);
    *out = *data;
  }
}

int main() {
  int *data = zeros(1), *flags = zeros(2), *out = zeros(1);
  kernel<<<2, 64>>>(data, flags, out);
  return judge(out, 1, [](int) { return 42; });
}
