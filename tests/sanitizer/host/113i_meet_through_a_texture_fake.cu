// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// Two kernels in different streams meet only through a texture: an event orders them. Others fetch side by
// side, from what nobody writes.
#include "../twin.h"

constexpr int kSide = 32;

__global__ void plain(int* data) { data[threadIdx.x] = threadIdx.x; }
__global__ void fetch(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);
}
__global__ void texels(cudaSurfaceObject_t s) {
  surf2Dwrite(int(threadIdx.x), s, threadIdx.x * 4, 0);
}
__global__ void sample(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex2D<int>(t, threadIdx.x, 0);
}

int main() {
  int *data = zeros(kSide), *zero = zeros(kSide * kSide), *out = zeros(4 * kSide);
  cudaResourceDesc linear = {}, image = {};
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeElementType;
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = data;
  linear.res.linear.desc = cudaCreateChannelDesc<int>();
  linear.res.linear.sizeInBytes = kSide * 4;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  image.resType = cudaResourceTypeArray;
  must(cudaMallocArray(&image.res.array.array, &format, kSide, kSide, cudaArraySurfaceLoadStore), "cudaMallocArray");
  must(cudaMemcpy2DToArray(image.res.array.array, 0, 0, zero, kSide * 4, kSide * 4, kSide, cudaMemcpyDeviceToDevice),
       "cudaMemcpy2DToArray");
  cudaTextureObject_t of_memory, of_array;
  cudaSurfaceObject_t surface;
  must(cudaCreateTextureObject(&of_memory, &linear, &how, nullptr), "texture");
  must(cudaCreateTextureObject(&of_array, &image, &how, nullptr), "texture");
  must(cudaCreateSurfaceObject(&surface, &image), "surface");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  plain<<<1, kSide, 0, one>>>(data);
  texels<<<1, kSide, 0, one>>>(surface);
  cudaEvent_t written;
  cudaEventCreate(&written);
  cudaEventRecord(written, one);
  cudaStreamWaitEvent(two, written);
  fetch<<<1, kSide, 0, two>>>(of_memory, out);
  sample<<<1, kSide, 0, two>>>(of_array, out + kSide);
  fetch<<<1, kSide, 0, one>>>(of_memory, out + 2 * kSide);
  sample<<<1, kSide, 0, one>>>(of_array, out + 3 * kSide);
  return judge(out, 4 * kSide, [](int i) { return i % kSide; });
}
