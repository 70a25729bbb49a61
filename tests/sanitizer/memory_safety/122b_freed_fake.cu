// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 122
// A kernel writes to memory that was freed and allocated again.
#include "../twin.h"

__global__ void kernel(int* data) {
  data[threadIdx.x] = threadIdx.x;
}

int main() {
  int* data = zeros(32);
  must(cudaFree(data), "cudaFree");
  data = zeros(32);
  kernel<<<1, 32>>>(data);
  return judge(data, 32, [](int i) { return i; });
}
