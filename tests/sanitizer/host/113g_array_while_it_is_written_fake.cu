// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// Some rows of an array are copied in one stream while a kernel of another one writes the others.
#include "../twin.h"

constexpr int kWidth = 32, kHeight = 8;

__global__ void fill(cudaSurfaceObject_t s) {
  surf2Dwrite<int>(threadIdx.x, s, threadIdx.x * 4, blockIdx.x);
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
  fill<<<kHeight / 2, kWidth, 0, one>>>(surface);
  cudaMemcpy2DFromArrayAsync(out, kWidth * 4, array, 0, kHeight / 2, kWidth * 4, kHeight / 2, cudaMemcpyDeviceToHost,
                             two);
  must(cudaDeviceSynchronize(), "execution");
  return verdict(out[0] == 0 && out[kWidth * kHeight / 2 - 1] == 0);
}
