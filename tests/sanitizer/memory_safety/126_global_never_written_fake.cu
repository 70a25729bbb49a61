// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 126
// The memory was set by cudaMemset, all but the element that nobody reads.
#include "../twin.h"

__global__ void kernel(const int* data, int* out) {
  if (data[threadIdx.x] > 5) out[threadIdx.x] = 1;
}

int main() {
  int *data, *out = zeros(32);
  must(cudaMalloc(&data, 33 * sizeof(int)), "cudaMalloc");
  must(cudaMemset(data, 0x11, 32 * sizeof(int)), "cudaMemset");
  kernel<<<1, 32>>>(data, out);
  return judge(out, 32, [](int) { return 1; });
}
