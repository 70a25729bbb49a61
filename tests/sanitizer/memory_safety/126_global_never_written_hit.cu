// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// A decision depends on memory that nobody ever wrote.
#include "../twin.h"

__global__ void kernel(const int* data, int* out) {
  if (data[threadIdx.x] > 5) out[threadIdx.x] = 1;  // expect: uninitialised
}

int main() {
  int *data, *out = zeros(32);
  must(cudaMalloc(&data, 33 * sizeof(int)), "cudaMalloc");
  kernel<<<1, 32>>>(data, out);
  return ended();
}
