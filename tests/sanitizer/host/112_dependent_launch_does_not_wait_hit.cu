// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 112
// covers: A15
// A dependent launch reads what the launch before it writes, without griddepcontrol.wait.
#include "../twin.h"

__global__ void first(int* data) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  data[threadIdx.x] = 100 + threadIdx.x;  // expect: grid-dependency A
}

__global__ void second(const int* data, const int* own, int* out) {
  int value = own[threadIdx.x];
  value += data[threadIdx.x];  // expect: grid-dependency B
  out[threadIdx.x] = value;
}

int main() {
  int *data = zeros(32), *own = iota(32), *out = zeros(32);
  first<<<1, 32>>>(data);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  config.attrs = &early;
  config.numAttrs = 1;
  must(cudaLaunchKernelEx(&config, second, (const int*)data, (const int*)own, out), "launch");
  return ended();
}
