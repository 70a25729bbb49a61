// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113, 115
// A kernel behind the launch of a graph uses memory that the graph allocates and frees.
#include "../twin.h"

__global__ void fill(int* data) { data[threadIdx.x] = threadIdx.x; }
__global__ void twice(const int* data, int* out) {
  out[threadIdx.x] = 2 * data[threadIdx.x];  // expect: use-after-free A
}

int main() {
  int *out = zeros(32), *data;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  must(cudaMallocAsync(&data, 128, stream), "cudaMallocAsync");
  fill<<<1, 32, 0, stream>>>(data);
  must(cudaFreeAsync(data, stream), "cudaFreeAsync");
  must(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable;
  must(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  must(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");  // expect: use-after-free B
  twice<<<1, 32, 0, stream>>>(data, out);
  return ended();
}
