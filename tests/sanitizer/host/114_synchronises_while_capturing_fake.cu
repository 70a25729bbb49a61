// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 114
// Another stream is synchronised; the capture is of a mode that allows it.
#include "../twin.h"

__global__ void kernel(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
  int* out = zeros(32);
  cudaStream_t stream, other;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  kernel<<<1, 32, 0, stream>>>(out);
  cudaStreamSynchronize(other);
  const cudaError_t end = cudaStreamEndCapture(stream, &graph);
  must(end, "cudaStreamEndCapture");
  cudaGraphExec_t executable;
  must(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  must(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  return judge(out, 32, [](int i) { return i; });
}
