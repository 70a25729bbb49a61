// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 80
// A grid of three blocks in clusters of two is refused.
#include "../twin.h"

__global__ void __cluster_dims__(2) kernel(int* out) { out[blockIdx.y * gridDim.x + blockIdx.x] = 1; }

int main() {
  int* out = zeros(6);
  kernel<<<3, 1>>>(out);  // expect: api-error
  return ended();
}
