// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 107
// A texture fetch of what the same kernel wrote before.
#include "../twin.h"

__global__ void kernel(int* data, cudaTextureObject_t texture, int* out, bool write, bool read) {
  const int t = threadIdx.x;
  if (write) data[t] = 100 + t;  // expect: race-nc A
  __syncthreads();
  if (read) out[t] = tex1Dfetch<int>(texture, t);  // expect: race-nc B
}

int main() {
  int *data = iota(32), *out = zeros(32);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = 32 * sizeof(int);
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  must(cudaCreateTextureObject(&texture, &resource, &how, nullptr), "cudaCreateTextureObject");
  kernel<<<1, 32>>>(data, texture, out, true, true);
  return ended();
}
