// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 45
// A tensor map of an address that is a multiple of 16 only.

#include "../tensor.h"

int main() {
  int* data = iota(256);
  CUtensorMap map;
  CUresult result = encode(&map, data + 4, {16, 4, 16, 2});
  return verdict(result == CUDA_SUCCESS);
}
