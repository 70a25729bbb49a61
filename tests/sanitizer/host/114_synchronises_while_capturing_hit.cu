// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 114
// may: api-error
// A stream is synchronised while it is captured: the call fails and spoils the capture.
#include "../twin.h"

__global__ void kernel(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
  int* out = zeros(32);
  cudaStream_t stream, other;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  kernel<<<1, 32, 0, stream>>>(out);
  if (cudaStreamSynchronize(stream) != cudaSuccess) cudaGetLastError();  // expect: api-error
  const cudaError_t end = cudaStreamEndCapture(stream, &graph);
  if (end != cudaSuccess) return ended();
  cudaGraphExec_t executable;
  must(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  must(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  return ended();
}
