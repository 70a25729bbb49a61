// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 79
// With cudaFuncAttributeNonPortableClusterSizeAllowed.
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
  cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaLaunchKernelEx(&config, kernel, out);
  return judge(out, 16, [](int i) { return i; });
}
