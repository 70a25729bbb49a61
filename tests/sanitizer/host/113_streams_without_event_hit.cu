// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// One stream writes what another reads; nothing makes the second wait for the first.
#include "../twin.h"

__global__ void write(int* data) {
  data[threadIdx.x] = threadIdx.x;  // expect: race-host A
}
__global__ void read(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x];  // expect: race-host B
}

int main() {
  int *data = zeros(32), *out = zeros(32);
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  write<<<1, 32, 0, one>>>(data);
  read<<<1, 32, 0, two>>>(data, out);
  return ended();
}
