// SPDX-License-Identifier: Apache-2.0
// A kernel that faults corrupts the context: what every call then returns, and what a reset repairs.
#include "api.h"

__global__ void wild(int* p) { *p = 1; }
__global__ void tame(int* p) { *p = 2; }

int main() {
  int *d = nullptr, h = 0;
  cudaStream_t s;
  cudaEvent_t e;
  MUST(cudaMalloc(&d, 4));
  MUST(cudaStreamCreate(&s));
  MUST(cudaEventCreate(&e));
  // A refused launch is not sticky.
  tame<<<1, 2000>>>(d);
  SHOW(cudaPeekAtLastError());
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  // An unchecked error stays until somebody looks, whatever succeeds in between.
  SHOW(cudaFree(&h));
  SHOW(cudaMemset(d, 0, 4));
  SHOW(cudaGetLastError());

  wild<<<1, 1>>>(reinterpret_cast<int*>(16));
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaPeekAtLastError());
  SHOW(cudaMalloc(&d, 4));
  SHOW(cudaFree(d));
  SHOW(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
  SHOW(cudaMemset(d, 0, 4));
  tame<<<1, 1>>>(d);
  SHOW(cudaGetLastError());
  SHOW(cudaStreamSynchronize(s));
  SHOW(cudaStreamQuery(s));
  SHOW(cudaEventRecord(e, s));
  SHOW(cudaEventQuery(e));
  cudaStream_t another;
  SHOW(cudaStreamCreate(&another));
  size_t bytes = 0;
  SHOW(cudaMemGetInfo(&bytes, &bytes));
  cudaFuncAttributes attributes;
  SHOW(cudaFuncGetAttributes(&attributes, tame));
  int device = -1;
  SHOW(cudaGetDevice(&device));
  SHOW(cudaSetDevice(0));
  SHOW(cudaStreamDestroy(s));
  SHOW(cudaEventDestroy(e));
  SHOW(cudaDeviceReset());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  // Not shown: the GPU of the recording was then unavailable to the process (DEVIATIONS.md, "after a fault").
  if (cudaMalloc(&d, 4) == cudaSuccess) {
    tame<<<1, 1>>>(d);
    MUST(cudaGetLastError());
    MUST(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    if (h != 2) std::printf("after the reset a kernel stored %d\n", h);
  }
  return 0;
}
