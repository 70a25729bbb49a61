// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119
// A block reads texels that another one writes in the same kernel.
#include "../twin.h"
__global__ void w(cudaSurfaceObject_t s) { surf2Dwrite<int>(threadIdx.x, s, threadIdx.x * 4, blockIdx.x); }
__global__ void r(cudaSurfaceObject_t s, int* out) {
  int v;
  surf2Dwrite<int>(7, s, threadIdx.x * 4, blockIdx.x);  // expect: race-global A
  surf2Dread(&v, s, threadIdx.x * 4, 3 - blockIdx.x);  // expect: race-global B
  out[blockIdx.x * 32 + threadIdx.x] = v;
}
int main() {
  cudaArray_t a; cudaChannelFormatDesc f = cudaCreateChannelDesc<int>();
  cudaMallocArray(&a, &f, 32, 4, cudaArraySurfaceLoadStore);
  cudaResourceDesc d = {}; d.resType = cudaResourceTypeArray; d.res.array.array = a; cudaSurfaceObject_t s; cudaCreateSurfaceObject(&s, &d);
  int* out = zeros(128);
  w<<<4, 32>>>(s); r<<<4, 32>>>(s, out);
  return ended();
}
