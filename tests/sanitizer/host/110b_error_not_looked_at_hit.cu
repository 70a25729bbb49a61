// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 110
// covers: API errors
// A launch is refused, and the program never asks.
#include "../twin.h"

__global__ void kernel(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
  int* out = zeros(32);
  kernel<<<1, 2048>>>(out);  // expect: api-error, api-unchecked
  std::puts("ended: unasked");
  return 0;
}
