// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 121
// The first value of a loop of compare-and-swap comes from an atomic.
#include "../twin.h"

__global__ void kernel(float* sum) {
  int* const word = reinterpret_cast<int*>(sum);
  int old = atomicOr(word, 0), seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __float_as_int(__int_as_float(seen) + 1));
  } while (old != seen);
}

int main() {
  float* sum = device<float>(1, [](int) { return 0.f; });
  kernel<<<2, 64>>>(sum);
  return judge(sum, 1, [](int) { return 128; });
}
