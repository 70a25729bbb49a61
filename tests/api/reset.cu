// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// What cudaDeviceReset takes away and what works after it.
#include "cu.h"

__device__ int variable = 7;
__global__ void plain(int* p) { *p = variable++; }

int once() {
  int *d = nullptr, h = 0;
  MUST(cudaMalloc(&d, 4));
  plain<<<1, 1>>>(d);
  MUST(cudaGetLastError());
  MUST(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
  return h;
}

int main() {
  SHOW(cudaDeviceReset());
  VALUE(once());
  VALUE(once());
  SHOW(cudaDeviceReset());
  VALUE(once());  // variables have their first value again
  size_t v = 0, was = 0;
  MUST(cudaDeviceGetLimit(&was, cudaLimitStackSize));
  MUST(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  unsigned flags = 9;
  int *d = nullptr, *h = nullptr, *managed = nullptr, *pooled = nullptr, value = 0;
  cudaStream_t s;
  cudaEvent_t e;
  cudaGraph_t g;
  MUST(cudaMalloc(&d, 4));
  MUST(cudaMallocHost(&h, 4));
  MUST(cudaMallocManaged(&managed, 4));
  MUST(cudaStreamCreate(&s));
  MUST(cudaEventCreate(&e));
  MUST(cudaGraphCreate(&g, 0));
  MUST(cudaMallocAsync(&pooled, 4, s));
  MUST(cudaStreamSynchronize(s));
  SHOW(cudaMalloc(nullptr, 4));
  SHOW(cudaPeekAtLastError());
  SHOW(cudaDeviceReset());
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  CUcontext c = nullptr;
  CU(cuCtxGetCurrent(&c));
  int active = 9;
  CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
  VALUE(active);
  SHOW(cudaDeviceGetLimit(&v, cudaLimitStackSize));
  VALUE(v == was);
  CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
  VALUE(active);
  SHOW(cudaFree(d));
  SHOW(cudaFreeHost(h));
  SHOW(cudaFree(managed));
  SHOW(cudaMemcpy(&value, d, 4, cudaMemcpyDeviceToHost));
  cudaPointerAttributes a = {};
  SHOW(cudaPointerGetAttributes(&a, d));
  VALUE(a.type);
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  VALUE(once());
  SHOW(cudaDeviceReset());
  SHOW(cudaDeviceReset());
  SHOW(cudaDeviceSynchronize());
  return 0;
}
