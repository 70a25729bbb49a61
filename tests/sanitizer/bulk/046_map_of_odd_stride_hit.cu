// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 46
// Rows of 36 bytes: strides are multiples of 16.

#include "../tensor.h"

int main() {
  int* data = iota(256);
  CUtensorMap map;
  CUresult result = encode(&map, data, {9, 4, 8, 2, 36});  // expect: api-error
  std::printf("refused: %d\n", result);
  return ended();
}
