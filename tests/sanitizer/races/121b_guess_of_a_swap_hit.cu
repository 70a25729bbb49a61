// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 121
// The first value of a loop of compare-and-swap is loaded plainly (a note).
#include "../twin.h"

__global__ void kernel(float* sum) {
  int* const word = reinterpret_cast<int*>(sum);
  int old = *word, seen;  // expect: race-guess A
  do {
    seen = old;
    old = atomicCAS(word, seen, __float_as_int(__int_as_float(seen) + 1));  // expect: race-guess B
  } while (old != seen);
}

int main() {
  float* sum = device<float>(1, [](int) { return 0.f; });
  kernel<<<2, 64>>>(sum);
  return ended();
}
