// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 114
// A conditional node repeats a kernel whose last thread decides.
#include "../twin.h"

__global__ void halve(int* p, cudaGraphConditionalHandle handle) {
  p[threadIdx.x] /= 2;
  if (threadIdx.x == 0) cudaGraphSetConditional(handle, p[0] > 1);
}

int main() {
  int* p = device<int>(32, [](int) { return 64; });
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphConditionalHandle handle;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  cudaGraphNode_t node, inner;
  must(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), "cudaGraphAddNode");
  cudaGraph_t body = params.conditional.phGraph_out[0];
  cudaKernelNodeParams k = {};
  void* arguments[] = {&p, &handle};
  k.func = reinterpret_cast<void*>(halve);
  k.gridDim = dim3(1), k.blockDim = dim3(32), k.kernelParams = arguments;
  must(cudaGraphAddKernelNode(&inner, body, nullptr, 0, &k), "cudaGraphAddKernelNode");
  must(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  must(cudaGraphLaunch(exec, 0), "cudaGraphLaunch");
  return judge(p, 32, [](int) { return 1; });
}
