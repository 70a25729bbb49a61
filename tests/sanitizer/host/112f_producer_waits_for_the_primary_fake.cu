// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 112
// A loader waits for the preceding kernel, and its consumers hear of that by the mbarrier of the tile.
#include "../twin.h"

__global__ void first(int* p, int* scale) {
  cudaTriggerProgrammaticLaunchCompletion();
  p[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) *scale = 3;
}

__global__ void second(const int* p, const int* scale, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    FENCE_MBAR_INIT();
  }
  __syncthreads();
  if (t >= 64) {
    if (t == 64) {
      cudaGridDependencySynchronize();
      MBAR_ARRIVE_EXPECT(&full, 256);
      BULK_LOAD(tile, p, 256, &full);
    }
    return;
  }
  MBAR_WAIT(&full, 0);
  const int by = *scale;
  out[t] = by * tile[t ^ 1];
}

int main() {
  int *p = zeros(64), *scale = zeros(1), *out = zeros(64);
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1), config.blockDim = dim3(96), config.stream = s;
  first<<<1, 64, 0, s>>>(p, scale);
  config.attrs = &early, config.numAttrs = 1;
  must(cudaLaunchKernelEx(&config, second, (const int*)p, (const int*)scale, out), "launch");
  return judge(out, 64, [](int i) { return 3 * (i ^ 1); });
}
