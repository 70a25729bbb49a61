// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 112
// A dependent launch writes what was set before the launch before it.
#include "../twin.h"

__global__ void first(int* other) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  other[threadIdx.x] = 100;
}

__global__ void second(int* data) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  data[threadIdx.x] = threadIdx.x;
}

int main() {
  int *data = zeros(32), *other = zeros(32);
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaMemsetAsync(data, 0, 128, one);
  first<<<1, 32, 0, one>>>(other);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  config.stream = one;
  config.attrs = &early;
  config.numAttrs = 1;
  must(cudaLaunchKernelEx(&config, second, data), "launch");
  return judge(data, 32, [](int i) { return i; });
}
