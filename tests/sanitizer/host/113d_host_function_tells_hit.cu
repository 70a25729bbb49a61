// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// The function of the host is behind nothing of the writing kernel's stream: that it ran says nothing of the kernel.
#include <atomic>

#include "../twin.h"

__global__ void write(int* data) {
  data[threadIdx.x] = threadIdx.x;  // expect: race-host A
}
__global__ void read(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x];  // expect: race-host B
}
void tell(void* over) {
  *static_cast<std::atomic<bool>*>(over) = true;
}

int main() {
  int *data = zeros(32), *out = zeros(32);
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  std::atomic<bool> over = false;
  write<<<1, 32, 0, one>>>(data);
  cudaLaunchHostFunc(two, tell, &over);
  while (!over) {
  }
  read<<<1, 32, 0, two>>>(data, out);
  return ended();
}
