// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 112
// Thread 0 waits for the preceding kernel, and the others go on without a barrier.
#include "../twin.h"

__global__ void first(int* p) {
  cudaTriggerProgrammaticLaunchCompletion();
  p[threadIdx.x] = threadIdx.x;
}

__global__ void second(const int* p, int* out) {
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  out[threadIdx.x] = p[threadIdx.x ^ 1];  // expect: grid-dependency
}

int main() {
  int *p = zeros(64), *out = zeros(64);
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1), config.blockDim = dim3(64), config.stream = s;
  first<<<1, 64, 0, s>>>(p);
  config.attrs = &early, config.numAttrs = 1;
  must(cudaLaunchKernelEx(&config, second, (const int*)p, out), "launch");
  return ended();
}
