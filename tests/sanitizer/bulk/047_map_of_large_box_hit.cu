// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 47
// A box of 257 rows.

#include "../tensor.h"

int main() {
  int* data = iota(256);
  CUtensorMap map;
  CUresult result = encode(&map, data, {16, 16, 4, 257});  // expect: api-error
  std::printf("refused: %d\n", result);
  return ended();
}
