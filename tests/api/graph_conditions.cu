// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Condition handles belong to their graph; graphs with conditional nodes can be updated,
// bodies and first values with them.
#include "cu.h"

__global__ void adds(int* v, int n) { atomicAdd(v, n); }
__global__ void chooses(cudaGraphConditionalHandle h, unsigned v) { cudaGraphSetConditional(h, v); }

namespace {
int* board;

cudaGraphNode_t add_kernel(cudaGraph_t g, int* at, int n, const cudaGraphNode_t* after = nullptr) {
  cudaKernelNodeParams p{};
  void* args[] = {&at, &n};
  p.func = reinterpret_cast<void*>(adds);
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = args;
  cudaGraphNode_t node;
  MUST(cudaGraphAddKernelNode(&node, g, after, after ? 1 : 0, &p));
  return node;
}
cudaGraphNodeParams condition(cudaGraphConditionalHandle h, cudaGraphConditionalNodeType type, unsigned size) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = h;
  p.conditional.type = type;
  p.conditional.size = size;
  return p;
}
// A switch of three bodies, each adding to its own word, that starts with `first`.
cudaGraph_t switch_graph(unsigned first, int n, unsigned flags = cudaGraphCondAssignDefault) {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  cudaGraphConditionalHandle h;
  MUST(cudaGraphConditionalHandleCreate(&h, g, first, flags));
  cudaGraphNodeParams p = condition(h, cudaGraphCondTypeSwitch, 3);
  cudaGraphNode_t node;
  MUST(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p));
  for (int k = 0; k < 3; ++k) add_kernel(p.conditional.phGraph_out[k], board + k, n);
  return g;
}
// A kernel that chooses, and the switch behind it.
cudaGraph_t choosing_graph(unsigned choice) {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  cudaGraphConditionalHandle h;
  MUST(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
  cudaKernelNodeParams k{};
  void* args[] = {&h, &choice};
  k.func = reinterpret_cast<void*>(chooses);
  k.gridDim = k.blockDim = dim3(1);
  k.kernelParams = args;
  cudaGraphNode_t node, before;
  MUST(cudaGraphAddKernelNode(&before, g, nullptr, 0, &k));
  cudaGraphNodeParams p = condition(h, cudaGraphCondTypeSwitch, 3);
  MUST(cudaGraphAddNode(&node, g, &before, nullptr, 1, &p));
  for (int i = 0; i < 3; ++i) add_kernel(p.conditional.phGraph_out[i], board + i, 1);
  return g;
}
void run(cudaGraphExec_t e) {
  board[0] = board[1] = board[2] = 0;
  SHOW(cudaGraphLaunch(e, nullptr));
  SHOW(cudaDeviceSynchronize());
  std::printf("%d %d %d\n", board[0], board[1], board[2]);
}
void update(const char* what, cudaGraphExec_t e, cudaGraph_t g) {
  cudaGraphExecUpdateResultInfo info{};
  api::show(what, cudaGraphExecUpdate(e, g, &info));
  std::printf("result %d\n", info.result);
  cudaGetLastError();
  run(e);
}

void updates() {
  cudaGraphExec_t e;
  MUST(cudaGraphInstantiate(&e, switch_graph(0, 1), 0));
  run(e);
  update("another first value", e, switch_graph(1, 1));
  update("other kernels in the bodies", e, switch_graph(2, 10));
  update("an index without body", e, switch_graph(7, 1));
  update("back", e, switch_graph(0, 5));
  cudaGraph_t g;
  cudaGraphConditionalHandle h;
  cudaGraphNode_t node;
  MUST(cudaGraphCreate(&g, 0));
  MUST(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams p = condition(h, cudaGraphCondTypeSwitch, 2);
  MUST(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p));
  for (int k = 0; k < 2; ++k) add_kernel(p.conditional.phGraph_out[k], board + k, 100);
  update("a switch of two", e, g);
  MUST(cudaGraphCreate(&g, 0));
  MUST(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
  p = condition(h, cudaGraphCondTypeIf, 1);
  MUST(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p));
  add_kernel(p.conditional.phGraph_out[0], board, 100);
  update("an if", e, g);
  g = switch_graph(1, 1);
  add_kernel(g, board, 100);
  update("a node more", e, g);
  update("still right", e, switch_graph(1, 3));

  MUST(cudaGraphInstantiate(&e, choosing_graph(2), 0));
  run(e);
  update("a kernel that chooses", e, choosing_graph(1));
  update("and again", e, choosing_graph(0));
}

void strangers() {
  cudaGraph_t a, b, body;
  cudaGraphConditionalHandle h, inner;
  cudaGraphNode_t node;
  MUST(cudaGraphCreate(&a, 0));
  MUST(cudaGraphCreate(&b, 0));
  MUST(cudaGraphConditionalHandleCreate(&h, a, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams p = condition(h, cudaGraphCondTypeIf, 1);
  SHOW(cudaGraphAddNode(&node, b, nullptr, nullptr, 0, &p));
  p = condition(h, cudaGraphCondTypeIf, 1);
  SHOW(cudaGraphAddNode(&node, a, nullptr, nullptr, 0, &p));
  body = p.conditional.phGraph_out[0];
  MUST(cudaGraphConditionalHandleCreate(&inner, a, 1, cudaGraphCondAssignDefault));
  p = condition(inner, cudaGraphCondTypeIf, 1);
  SHOW(cudaGraphAddNode(&node, body, nullptr, nullptr, 0, &p));
  SHOW(cudaGraphConditionalHandleCreate(&inner, body, 1, cudaGraphCondAssignDefault));
  p = condition(inner, cudaGraphCondTypeIf, 1);
  SHOW(cudaGraphAddNode(&node, body, nullptr, nullptr, 0, &p));
}

void names() {
  const char* name = nullptr;
  CU(cuFuncGetName(&name, nullptr));
  CU(cuKernelGetName(&name, nullptr));
  CU(cuFuncGetName(nullptr, nullptr));
  CUmodule m;
  CU(cuFuncGetModule(&m, nullptr));
  int v = 0;
  CU(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, nullptr));
  size_t offset = 0;
  CU(cuFuncGetParamInfo(nullptr, 0, &offset, nullptr));
}
}  // namespace

int main() {
  MUST(cudaMallocHost(&board, 64));
  updates();
  strangers();
  names();
  return 0;
}
