// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// An event does.
#include "../twin.h"

__global__ void write(int* data) {
  data[threadIdx.x] = threadIdx.x;
}
__global__ void read(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x];
}

int main() {
  int *data = zeros(32), *out = zeros(32);
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  write<<<1, 32, 0, one>>>(data);
  cudaEvent_t written;
  cudaEventCreate(&written);
  cudaEventRecord(written, one);
  cudaStreamWaitEvent(two, written);
  read<<<1, 32, 0, two>>>(data, out);
  return judge(out, 32, [](int i) { return i; });
}
