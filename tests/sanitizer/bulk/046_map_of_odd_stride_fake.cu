// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 46
// Rows of 48 bytes.

#include "../tensor.h"

int main() {
  int* data = iota(256);
  CUtensorMap map;
  CUresult result = encode(&map, data, {9, 4, 8, 2, 48});
  return verdict(result == CUDA_SUCCESS);
}
