// SPDX-License-Identifier: Apache-2.0
// flags: -rdc=true -lcudadevrt
// Dynamic parallelism: a fault in a launched grid is a fault of the launching grid and of the context, too.
#include "program.h"
using namespace program;

__global__ void stores(int* p) { *p = 1; }
__global__ void parent(int* p) { stores<<<1, 1>>>(p); }

int main() {
  Device<int> d(1);
  parent<<<1, 1>>>(d);
  MUST_RUN();
  expect("a good launch", d.copy()[0] == 1);
  parent<<<1, 1>>>(reinterpret_cast<int*>(0x1000));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return finish();
}
