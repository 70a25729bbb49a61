// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 47
// A box of 256 rows, more than the tensor has.

#include "../tensor.h"

int main() {
  int* data = iota(256);
  CUtensorMap map;
  CUresult result = encode(&map, data, {16, 16, 4, 256});
  return verdict(result == CUDA_SUCCESS);
}
