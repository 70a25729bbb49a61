// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113, 114
// Two branches of a captured graph write the same words.
#include "../twin.h"

__global__ void fill(int* p, int n) { p[threadIdx.x] = n + threadIdx.x; }  // expect: race-host
__global__ void sum(const int* p, int* out) { atomicAdd(out, p[threadIdx.x] + p[64 + threadIdx.x]); }

int main() {
  int *p = zeros(128), *out = zeros(1);
  cudaStream_t a, b;
  cudaEvent_t fork, join;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, a);
  cudaStreamWaitEvent(b, fork, 0);
  fill<<<1, 64, 0, a>>>(p, 0);
  fill<<<1, 64, 0, b>>>(p + 32, 0);
  cudaEventRecord(join, b);
  cudaStreamWaitEvent(a, join, 0);
  sum<<<1, 64, 0, a>>>(p, out);
  cudaStreamEndCapture(a, &graph);
  must(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  for (int k = 0; k < 3; ++k) cudaGraphLaunch(exec, a);
  return ended();
}
