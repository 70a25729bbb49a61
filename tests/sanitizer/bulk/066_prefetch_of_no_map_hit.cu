// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 66
// prefetch.tensormap of an address where nothing is: the device ignores it (a note).

#include "../tensor.h"

__global__ void kernel(const __grid_constant__ CUtensorMap map, uint64_t nothing, int* out) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(nothing) : "memory");  // expect: prefetch-invalid
  out[0] = 1;
}

int main() {
  int *in = iota(64), *out = zeros(1);
  kernel<<<1, 1>>>(tensor_map(in, {16, 4, 16, 2}), 0x40, out);
  return ended();
}
