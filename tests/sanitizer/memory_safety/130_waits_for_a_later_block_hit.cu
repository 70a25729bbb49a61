// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 130
// hangs
// Block 0 waits for the last block, which can start only when one of the others has ended; all wait.
#include "../twin.h"

__global__ void kernel(int* flags, int* out) {
  extern __shared__ int tile[];
  tile[0] = blockIdx.x;
  int seen = 0;
  const int other = gridDim.x - 1;
  while (!seen && blockIdx.x != other) LOAD(seen, "acquire.gpu", flags + other);  // expect: deadlock
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
  return ended();
}
