// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 112
// A dependent launch fetches through a texture without griddepcontrol.wait what the launch before it writes.
#include "../twin.h"

__global__ void plain(int* data) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  data[threadIdx.x] = threadIdx.x;  // expect: grid-dependency A
}
__global__ void fetch(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);  // expect: grid-dependency B
}

int main() {
  int *data = zeros(32), *out = zeros(32);
  cudaResourceDesc linear = {};
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeElementType;
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = data;
  linear.res.linear.desc = cudaCreateChannelDesc<int>();
  linear.res.linear.sizeInBytes = 128;
  cudaTextureObject_t texture;
  must(cudaCreateTextureObject(&texture, &linear, &how, nullptr), "texture");
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1, config.blockDim = 32, config.attrs = &attribute, config.numAttrs = 1;
  plain<<<1, 32>>>(data);
  must(cudaLaunchKernelEx(&config, fetch, texture, out), "cudaLaunchKernelEx");
  return ended();
}
