// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 115
// The memory lives; what was freed is a buffer that only the capture needed.
#include "../twin.h"

__global__ void kernel(int* data, int* out) {
  data[threadIdx.x] = threadIdx.x;
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
  cudaFree(other);
  must(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  return judge(out, 32, [](int i) { return i; });
}
