// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 112
// covers: A15
// It reads what is its own, then waits, then reads what the launch before it wrote.
#include "../twin.h"

__global__ void first(int* data) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  data[threadIdx.x] = 100 + threadIdx.x;
}

__global__ void second(const int* data, const int* own, int* out) {
  int value = own[threadIdx.x];
  asm volatile("griddepcontrol.wait;" ::: "memory");
  value += data[threadIdx.x];
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
  return judge(out, 32, [](int i) { return 100 + 2 * i; });
}
