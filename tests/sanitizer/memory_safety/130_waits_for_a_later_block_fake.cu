// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 130
// Each block waits for the block before it, which has started earlier.
#include "../twin.h"

__global__ void kernel(int* flags, int* out) {
  extern __shared__ int tile[];
  tile[0] = blockIdx.x;
  int seen = 0;
  const int other = blockIdx.x - 1;
  while (!seen && blockIdx.x != 0) LOAD(seen, "acquire.gpu", flags + other);
  STORE("release.gpu", flags + blockIdx.x, 1);
  out[blockIdx.x] = tile[0];
}

int main() {
  int sms = 0;
  const int bytes = 200 * 1024;  // one block on each SM
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  int *flags = zeros(2 * sms), *out = zeros(2 * sms);
  kernel<<<2 * sms, 1, bytes>>>(flags, out);
  return judge(out, 2 * sms, [](int i) { return i; });
}
