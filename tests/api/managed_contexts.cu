// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// A managed variable is there once, for all contexts of the process.
#include "cu.h"
__managed__ int x = 5;
__global__ void add(int n) { x += n; }
int main() {
  CUcontext c = nullptr;
  CUdevice d = 0;
  add<<<1, 1>>>(1);
  SHOW(cudaDeviceSynchronize());
  CU(cuCtxCreate(&c, nullptr, 0, d));
  add<<<1, 1>>>(10);
  SHOW(cudaDeviceSynchronize());
  VALUE(x);
  CU(cuCtxDestroy(c));
  SHOW(cudaDeviceReset());
  return 0;
}
