// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 110
// covers: API errors
// The program asks, and does it another way.
#include "../twin.h"

__global__ void kernel(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
  int* out = zeros(32);
  int most = 0;
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, 0);
  kernel<<<1, most < 2048 ? 32 : 2048>>>(out);
  return judge(out, 32, [](int i) { return i; });
}
