// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 45
// A tensor map of an address that is a multiple of 4 only.

#include "../tensor.h"

int main() {
  int* data = iota(256);
  CUtensorMap map;
  CUresult result = encode(&map, data + 1, {16, 4, 16, 2});  // expect: api-error
  std::printf("refused: %d\n", result);
  return ended();
}
