// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 107
// A surface is written and a texture of the same array is read: in one kernel, or in two.
#include "../twin.h"

__global__ void write(cudaSurfaceObject_t s) {
  surf2Dwrite(int(threadIdx.x * 2), s, threadIdx.x * 4, 0);
}
__global__ void read(cudaTextureObject_t t, int* out) { out[threadIdx.x] = tex2D<int>(t, threadIdx.x, 0); }
__global__ void both(cudaSurfaceObject_t s, cudaTextureObject_t t, int* out) {
  surf2Dwrite(int(threadIdx.x * 2), s, threadIdx.x * 4, 0);
  __syncthreads();
  out[threadIdx.x] = tex2D<int>(t, 63 - threadIdx.x, 0);
}

int main() {
  cudaChannelFormatDesc f = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  must(cudaMallocArray(&array, &f, 64, 4, cudaArraySurfaceLoadStore), "cudaMallocArray");
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  cudaTextureDesc d = {};
  d.readMode = cudaReadModeElementType;
  cudaSurfaceObject_t s;
  cudaTextureObject_t t;
  must(cudaCreateSurfaceObject(&s, &r), "surface");
  must(cudaCreateTextureObject(&t, &r, &d, nullptr), "texture");
  int* out = zeros(64);
  write<<<1, 64>>>(s);
  read<<<1, 64>>>(t, out);
  return judge(out, 64, [](int i) { return 2 * i; });
}
