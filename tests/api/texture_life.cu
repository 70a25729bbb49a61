// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects that are destroyed while launches that use them still wait in a stream.
#include <vector>

#include "api.h"

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {}
}
__global__ void read(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }
__global__ void fill(cudaSurfaceObject_t s) { surf2Dwrite(threadIdx.x * 2, s, threadIdx.x * 4, 0); }

int main() {
  int* flag;
  float *in, *out, host[64];
  cudaStream_t s;
  MUST(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  MUST(cudaMalloc(&in, sizeof host));
  MUST(cudaMalloc(&out, sizeof host));
  for (int i = 0; i < 64; ++i) host[i] = 1.5f * i;
  MUST(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = in;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = sizeof host;
  cudaTextureDesc d = {};
  cudaTextureObject_t t = 0;
  SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
  cudaArray_t a;
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  MUST(cudaMallocArray(&a, &ints, 64, 4, cudaArraySurfaceLoadStore));
  cudaResourceDesc ra = {};
  ra.resType = cudaResourceTypeArray;
  ra.res.array.array = a;
  cudaSurfaceObject_t o = 0;
  SHOW(cudaCreateSurfaceObject(&o, &ra));

  *flag = 0;
  wait_for<<<1, 1, 0, s>>>(flag);
  read<<<1, 64, 0, s>>>(t, out);
  fill<<<1, 64, 0, s>>>(o);
  SHOW(cudaDestroyTextureObject(t));
  SHOW(cudaDestroySurfaceObject(o));
  SHOW(cudaGetTextureObjectResourceDesc(&r, t));
  *static_cast<volatile int*>(flag) = 1;
  SHOW(cudaStreamSynchronize(s));
  MUST(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  VALUE(host[63] * 2);
  int row[64];
  MUST(cudaMemcpy2DFromArray(row, sizeof row, a, 0, 0, sizeof row, 1, cudaMemcpyDeviceToHost));
  VALUE(row[63]);
  SHOW(cudaGetLastError());
  return 0;
}
