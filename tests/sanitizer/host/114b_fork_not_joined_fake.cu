// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 114
// It joined.
#include "../twin.h"

__global__ void kernel(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
  int* out = zeros(64);
  cudaStream_t stream, side;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&side);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork);
  kernel<<<1, 32, 0, stream>>>(out);
  kernel<<<1, 32, 0, side>>>(out + 32);
  cudaEventRecord(join, side);
  cudaStreamWaitEvent(stream, join);
  const cudaError_t end = cudaStreamEndCapture(stream, &graph);
  must(end, "cudaStreamEndCapture");
  cudaGraphExec_t executable;
  must(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  must(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  return judge(out, 64, [](int i) { return i % 32; });
}
