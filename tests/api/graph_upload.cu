// SPDX-License-Identifier: Apache-2.0
// flags: -rdc=true -lcudadevrt -lcuda
// Graphs that are uploaded when they are instantiated: a kernel can launch them at once.
#include "cu.h"

__global__ void adds(int* v) { atomicAdd(v, 1); }
__global__ void launches(cudaGraphExec_t e, int* code) { *code = cudaGraphLaunch(e, cudaStreamGraphTailLaunch); }

namespace {
int* board;
cudaStream_t s;

template <class F>
cudaGraph_t captured(F&& f) {
  cudaGraph_t g;
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  f();
  MUST(cudaStreamEndCapture(s, &g));
  return g;
}
void launch_from_kernel(cudaGraphExec_t e) {
  board[0] = board[1] = 0;
  const cudaGraph_t g = captured([&] { launches<<<1, 1, 0, s>>>(e, board + 1); });
  cudaGraphExec_t outer;
  MUST(cudaGraphInstantiate(&outer, g, 0));
  MUST(cudaGraphLaunch(outer, s));
  SHOW(cudaStreamSynchronize(s));
  VALUE(board[0]);
  VALUE(board[1]);
}
}  // namespace

int main() {
  MUST(cudaMallocHost(&board, 64));
  MUST(cudaStreamCreate(&s));
  const cudaGraph_t g = captured([] { adds<<<1, 1, 0, s>>>(board); });
  cudaGraphExec_t e;
  cudaGraphInstantiateParams p{};
  p.flags = cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUpload;
  p.uploadStream = s;
  SHOW(cudaGraphInstantiateWithParams(&e, g, &p));
  VALUE(p.result_out);
  SHOW(cudaStreamSynchronize(s));
  launch_from_kernel(e);
  unsigned long long flags = 0;
  SHOW(cudaGraphExecGetFlags(e, &flags));
  VALUE(flags);

  p = {};
  p.flags = cudaGraphInstantiateFlagDeviceLaunch;
  SHOW(cudaGraphInstantiateWithParams(&e, g, &p));
  launch_from_kernel(e);

  CUDA_GRAPH_INSTANTIATE_PARAMS d{};
  d.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  d.hUploadStream = s;
  CUgraphExec de;
  CU(cuGraphInstantiateWithParams(&de, g, &d));
  SHOW(cudaStreamSynchronize(s));
  launch_from_kernel(de);

  p = {};
  p.flags = cudaGraphInstantiateFlagUpload;  // the null stream
  SHOW(cudaGraphInstantiateWithParams(&e, g, &p));
  SHOW(cudaGraphLaunch(e, s));
  SHOW(cudaStreamSynchronize(s));
  VALUE(board[0]);
  return 0;
}
