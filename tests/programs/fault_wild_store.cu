// SPDX-License-Identifier: Apache-2.0
// A store to an address that was never allocated: the synchronisation returns the error, which stays until a reset.
#include "program.h"
using namespace program;

__global__ void store(int* where, int value) { where[threadIdx.x] = value; }

int main() {
  int* good;
  MUST(cudaMalloc(&good, 4096));
  store<<<1, 32>>>(good, 1);
  MUST_RUN();
  store<<<2, 64>>>(reinterpret_cast<int*>(0x10), 2);
  std::printf("synchronise: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("again:       %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("last error:  %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("allocate:    %s\n", cudaGetErrorName(cudaMalloc(&good, 4096)));
  std::printf("reset:       %s\n", cudaGetErrorName(cudaDeviceReset()));
  std::printf("last error:  %s\n", cudaGetErrorName(cudaGetLastError()));
  const cudaError_t after = cudaMalloc(&good, 4096);
  // Not printed: the GPU on which the recording was made could not be used again by the process (see DEVIATIONS.md).
  if (after == cudaSuccess) {
    store<<<1, 32>>>(good, 3);
    MUST_RUN();
  }
  return finish();
}
