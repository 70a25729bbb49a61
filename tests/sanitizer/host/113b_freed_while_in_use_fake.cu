// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// An event makes the stream that frees wait for the kernel.
#include "../twin.h"

__global__ void write(int* data, int* out) {
  data[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = threadIdx.x;
}

int main() {
  int *out = zeros(32), *data;
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  must(cudaMallocAsync(&data, 32 * sizeof(int), one), "cudaMallocAsync");
  must(cudaStreamSynchronize(one), "cudaStreamSynchronize");
  write<<<1, 32, 0, two>>>(data, out);
  cudaEvent_t done;
  cudaEventCreate(&done);
  cudaEventRecord(done, two);
  cudaStreamWaitEvent(one, done);
  cudaFreeAsync(data, one);
  return judge(out, 32, [](int i) { return i; });
}
