// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 105
// A bitmap is asked by a plain load and set by atomics.
#include "../twin.h"

__global__ void kernel(const int* nodes, unsigned* bitmap, int* out) {
  const int node = nodes[blockIdx.x * blockDim.x + threadIdx.x];
  const unsigned bit = 1u << node % 32;
  if (bitmap[node / 32] & bit) return;  // expect: race-atomic A
  if (atomicOr(&bitmap[node / 32], bit) & bit) return;  // expect: race-atomic B
  atomicAdd(out, 1);
}

int main() {
  int *nodes = device<int>(256, [](int i) { return i * 7 % 100; }), *bitmap = zeros(4), *out = zeros(1);
  kernel<<<4, 64>>>(nodes, reinterpret_cast<unsigned*>(bitmap), out);
  return ended();
}
