// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 121
// An atomic of 8 bytes and one of 4 bytes on its lower half.
#include "../twin.h"

__global__ void kernel(unsigned long long* words) {
  if (blockIdx.x == 0) {
    atomicAdd(words, 1ull);  // expect: race-atomic A
  } else {
    atomicAdd((unsigned*)words, 1u);  // expect: race-atomic B
  }
}

int main() {
  auto* words = device<unsigned long long>(2, [](int) { return 0; });
  kernel<<<2, 1>>>(words);
  return ended();
}
