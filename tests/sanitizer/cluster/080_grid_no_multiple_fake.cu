// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 80
// A grid of three rows of two blocks.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) { out[blockIdx.y * gridDim.x + blockIdx.x] = 1; }

int main() {
  int* out = zeros(6);
  kernel<<<dim3(2, 3), 1>>>(out);
  return judge(out, 6, [](int) { return 1; });
}
