// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 101
// covers: C4, C3
// A chain over two flags; its first link is relaxed and carries nothing.
#include "../twin.h"

__global__ void kernel(int* data, int* flags, int* out) {
  int seen = 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *data = 42;  // expect: race-global A
    STORE("relaxed.cta", flags, 1);
  } else if (blockIdx.x == 0 && threadIdx.x == 32) {
    while (!seen) LOAD(seen, "acquire.cta", flags);
    STORE("release.gpu", flags + 1, 1);
  } else if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (!seen) LOAD(seen, "acquire.gpu", flags + 1);
    *out = *data;  // expect: race-global B
  }
}

int main() {
  int *data = zeros(1), *flags = zeros(2), *out = zeros(1);
  kernel<<<2, 64>>>(data, flags, out);
  return ended();
}
