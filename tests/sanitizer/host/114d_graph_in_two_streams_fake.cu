// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113, 115
// One graph is launched in two streams: it never runs beside itself.
#include "../twin.h"

__global__ void add(int* p) { p[threadIdx.x] += 1; }

int main() {
  int* p = zeros(64);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed);
  add<<<1, 64, 0, a>>>(p);
  cudaStreamEndCapture(a, &graph);
  must(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  for (int k = 0; k < 4; ++k) cudaGraphLaunch(exec, k % 2 ? a : b);
  return judge(p, 64, [](int) { return 4; });
}
