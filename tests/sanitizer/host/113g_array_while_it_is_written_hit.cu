// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// An array is copied in one stream while a kernel of another one may write it through a surface.
#include "../twin.h"

constexpr int kWidth = 32, kHeight = 8;

__global__ void fill(cudaSurfaceObject_t s) {
  surf2Dwrite<int>(threadIdx.x, s, threadIdx.x * 4, blockIdx.x);  // expect: race-host A
}

int main() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  must(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore), "cudaMallocArray");
  int *zero = zeros(kWidth * kHeight), *out;
  cudaMallocHost(&out, kWidth * kHeight * 4);
  must(cudaMemcpy2DToArray(array, 0, 0, zero, kWidth * 4, kWidth * 4, kHeight, cudaMemcpyDeviceToDevice), "copy");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  cudaResourceDesc of = {};
  of.resType = cudaResourceTypeArray;
  of.res.array.array = array;
  cudaSurfaceObject_t surface;
  must(cudaCreateSurfaceObject(&surface, &of), "cudaCreateSurfaceObject");
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  fill<<<kHeight, kWidth, 0, one>>>(surface);
  // expect: race-host B
  cudaMemcpy2DFromArrayAsync(out, kWidth * 4, array, 0, 0, kWidth * 4, kHeight, cudaMemcpyDeviceToHost, two);
  return ended();
}
