// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 122
// The last thread writes the last element, with a vector store that ends where the allocation ends.
#include "../twin.h"

__global__ void kernel(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) reinterpret_cast<int4*>(data)[i] = make_int4(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
}

int main() {
  int* data = zeros(128);  // 512 bytes
  kernel<<<5, 32>>>(data, 128);
  return judge(data, 128, [](int i) { return i; });
}
