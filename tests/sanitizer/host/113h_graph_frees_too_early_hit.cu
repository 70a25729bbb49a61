// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// A graph frees its memory in one branch while a kernel of the other one may still use it.
#include "../twin.h"

__global__ void fill(int* data) { data[threadIdx.x] = threadIdx.x; }

__global__ void twice(const int* data, int* out) {
  out[threadIdx.x] = 2 * data[threadIdx.x];  // expect: free-pending A
}

int main() {
  int *out = zeros(32), *data;
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph;
  cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal);
  must(cudaMallocAsync(&data, 128, one), "cudaMallocAsync");
  fill<<<1, 32, 0, one>>>(data);
  cudaEventRecord(fork, one);
  cudaStreamWaitEvent(two, fork);
  twice<<<1, 32, 0, two>>>(data, out);
  cudaEventRecord(join, two);
  must(cudaFreeAsync(data, one), "cudaFreeAsync");
  cudaStreamWaitEvent(one, join);
  must(cudaStreamEndCapture(one, &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable;
  must(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  cudaGraphLaunch(executable, one);  // expect: free-pending B
  return ended();
}
