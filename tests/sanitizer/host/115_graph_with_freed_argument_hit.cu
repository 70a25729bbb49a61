// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 115
// A graph is launched whose kernel has the address of freed memory.
#include "../twin.h"

__global__ void kernel(int* data, int* out) {
  data[threadIdx.x] = threadIdx.x;  // expect: use-after-free A
  out[threadIdx.x] = threadIdx.x;
}

int main() {
  int *out = zeros(32), *data = zeros(32), *other = zeros(32);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  kernel<<<1, 32, 0, stream>>>(data, out);
  must(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable;
  must(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  cudaFree(data);  // expect: use-after-free B
  must(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  return ended();
}
