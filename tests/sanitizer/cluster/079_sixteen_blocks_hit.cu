// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 79
// A cluster of 16 blocks without the kernel's permission is refused.
#include "../twin.h"

__global__ void kernel(int* out) { out[blockIdx.x] = blockIdx.x; }

int main() {
  int* out = zeros(16);
  cudaLaunchConfig_t config = {};
  config.gridDim = 16;
  config.blockDim = 1;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {16, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, out);  // expect: api-error
  return ended();
}
