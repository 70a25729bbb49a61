// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 17
// hangs
// A grid barrier by hand, and one block more than can be resident: the resident ones wait for one that never starts.
#include "../twin.h"

__global__ void kernel(int* arrived, int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    int seen = 0;
    while (seen < gridDim.x) LOAD(seen, "acquire.gpu", arrived);  // expect: deadlock
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, tile[0]);
}

int main() {
  int sms = 0, *arrived = zeros(1), *out = zeros(1);
  const int bytes = 200 * 1024;  // one block on each SM
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<sms + 1, 32, bytes>>>(arrived, out);
  return ended();
}
