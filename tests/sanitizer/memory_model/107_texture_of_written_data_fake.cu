// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 107
// The fetch is in the next launch.
#include "../twin.h"

__global__ void kernel(int* data, cudaTextureObject_t texture, int* out, bool write, bool read) {
  const int t = threadIdx.x;
  if (write) data[t] = 100 + t;
  __syncthreads();
  if (read) out[t] = tex1Dfetch<int>(texture, t);
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
  kernel<<<1, 32>>>(data, texture, out, true, false);
  kernel<<<1, 32>>>(data, texture, out, false, true);
  return judge(out, 32, [](int i) { return 100 + i; });
}
