// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// A function of the host behind the writing kernel tells the program that it is over; then the reader is launched.
#include <atomic>

#include "../twin.h"

__global__ void write(int* data) {
  data[threadIdx.x] = threadIdx.x;
}
__global__ void read(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x];
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
  cudaLaunchHostFunc(one, tell, &over);
  while (!over) {
  }
  read<<<1, 32, 0, two>>>(data, out);
  return judge(out, 32, [](int i) { return i; });
}
