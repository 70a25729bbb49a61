// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// A kernel fetches, through a texture, one half of a buffer while a copy of another stream writes the other one.
#include "../twin.h"

__global__ void fetch(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);
}

int main() {
  int *data = iota(64), *out = zeros(32), *values;
  cudaMallocHost(&values, 128);
  for (int i = 0; i < 32; i++) values[i] = 3 * i;
  cudaResourceDesc from = {};
  from.resType = cudaResourceTypeLinear;
  from.res.linear.devPtr = data;
  from.res.linear.desc = cudaCreateChannelDesc<int>();
  from.res.linear.sizeInBytes = 256;
  cudaTextureDesc how = {};
  cudaTextureObject_t texture;
  must(cudaCreateTextureObject(&texture, &from, &how, nullptr), "cudaCreateTextureObject");
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaMemcpyAsync(data + 32, values, 128, cudaMemcpyHostToDevice, one);
  fetch<<<1, 32, 0, two>>>(texture, out);
  return judge(out, 32, [](int i) { return i; });
}
