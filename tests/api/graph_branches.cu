// SPDX-License-Identifier: Apache-2.0
// Branches of a graph overlap; graphs of many threads; many launches; events of graphs.
#include <thread>
#include <vector>

#include "api.h"

__global__ void wait_for(volatile int* flag, int v, int* out) {
  while (*flag != v) {}
  atomicAdd(out, v);
}
__global__ void set(volatile int* flag, int v) { *flag = v; }
__global__ void add(int* p, int v) { atomicAdd(p, v); }

namespace {
cudaGraphNode_t kernel(cudaGraph_t g, void* f, std::vector<void*> args, std::vector<cudaGraphNode_t> after = {}) {
  cudaKernelNodeParams p{};
  p.func = f;
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = args.data();
  cudaGraphNode_t n;
  MUST(cudaGraphAddKernelNode(&n, g, after.data(), after.size(), &p));
  return n;
}
int value_of(int* p) {
  int v = -1;
  MUST(cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost));
  return v;
}
}  // namespace

int main() {
  int* d;
  MUST(cudaMalloc(&d, 1024));
  MUST(cudaMemset(d, 0, 1024));
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  cudaGraph_t g;
  cudaGraphExec_t x;
  {  // four branches: each waits for the next one's word, the last sets its own
    MUST(cudaGraphCreate(&g, 0));
    int* out = d + 8;
    std::vector<cudaGraphNode_t> ends;
    for (int i = 0; i < 4; ++i) {
      int *mine = d + i, *next = d + i + 1, v = i + 1, w = i + 2;
      if (i < 3) {
        cudaGraphNode_t n = kernel(g, reinterpret_cast<void*>(wait_for), {&next, &w, &out});
        ends.push_back(kernel(g, reinterpret_cast<void*>(set), {&mine, &v}, {n}));
      } else {
        ends.push_back(kernel(g, reinterpret_cast<void*>(set), {&mine, &v}));
      }
    }
    int thousand = 1000;
    kernel(g, reinterpret_cast<void*>(add), {&out, &thousand}, ends);
    SHOW(cudaGraphInstantiate(&x, g, 0));
    SHOW(cudaGraphLaunch(x, s));
    SHOW(cudaStreamSynchronize(s));
    VALUE(value_of(out));
    cudaGraphExecDestroy(x), cudaGraphDestroy(g);
  }
  {  // a kernel of another stream ends what the graph waits for
    MUST(cudaMemset(d, 0, 1024));
    MUST(cudaGraphCreate(&g, 0));
    int *flag = d, *out = d + 8, v = 3;
    kernel(g, reinterpret_cast<void*>(wait_for), {&flag, &v, &out});
    MUST(cudaGraphInstantiate(&x, g, 0));
    cudaStream_t t;
    MUST(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    MUST(cudaDeviceSynchronize());
    SHOW(cudaGraphLaunch(x, s));
    SHOW(cudaStreamQuery(s));
    cudaGetLastError();
    set<<<1, 1, 0, t>>>(flag, 3);
    SHOW(cudaStreamSynchronize(s));
    VALUE(value_of(out));
    cudaGraphExecDestroy(x), cudaGraphDestroy(g);
  }
  {  // events recorded by a graph order other streams
    MUST(cudaMemset(d, 0, 1024));
    cudaEvent_t e, never;
    MUST(cudaEventCreate(&e));
    MUST(cudaEventCreate(&never));
    MUST(cudaGraphCreate(&g, 0));
    int *out = d, v = 7;
    cudaGraphNode_t n = kernel(g, reinterpret_cast<void*>(add), {&out, &v}), r, w;
    MUST(cudaGraphAddEventRecordNode(&r, g, &n, 1, e));
    MUST(cudaGraphAddEventWaitNode(&w, g, nullptr, 0, never));
    MUST(cudaGraphInstantiate(&x, g, 0));
    SHOW(cudaGraphLaunch(x, s));
    cudaStream_t t;
    MUST(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    SHOW(cudaStreamWaitEvent(t, e, 0));
    add<<<1, 1, 0, t>>>(d, 100);
    SHOW(cudaEventRecord(never, t));
    SHOW(cudaGraphLaunch(x, s));
    SHOW(cudaStreamSynchronize(s));
    VALUE(value_of(d));
    SHOW(cudaEventQuery(e));
    cudaGraphExecDestroy(x), cudaGraphDestroy(g);
  }
  {  // threads that capture and launch, each its own
    MUST(cudaMemset(d, 0, 1024));
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([=] {
        cudaStream_t mine;
        MUST(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
        for (int k = 0; k < 20; ++k) {
          cudaGraph_t h;
          cudaGraphExec_t y;
          MUST(cudaStreamBeginCapture(mine, cudaStreamCaptureModeThreadLocal));
          for (int j = 0; j < 5; ++j) add<<<1, 1, 0, mine>>>(d + i, 1);
          MUST(cudaStreamEndCapture(mine, &h));
          MUST(cudaGraphInstantiate(&y, h, 0));
          MUST(cudaGraphLaunch(y, mine));
          MUST(cudaGraphLaunch(y, mine));
          MUST(cudaStreamSynchronize(mine));
          MUST(cudaGraphExecDestroy(y));
          MUST(cudaGraphDestroy(h));
        }
        MUST(cudaStreamDestroy(mine));
      });
    for (auto& t : threads) t.join();
    for (int i = 0; i < 8; ++i) VALUE(value_of(d + i));
  }
  {  // ten thousand launches
    MUST(cudaMemset(d, 0, 1024));
    MUST(cudaGraphCreate(&g, 0));
    int *out = d, v = 1;
    cudaGraphNode_t a = kernel(g, reinterpret_cast<void*>(add), {&out, &v});
    cudaGraphNode_t b = kernel(g, reinterpret_cast<void*>(add), {&out, &v}, {a}), c = kernel(g, reinterpret_cast<void*>(add), {&out, &v}, {a});
    kernel(g, reinterpret_cast<void*>(add), {&out, &v}, {b, c});
    MUST(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 10000; ++i) MUST(cudaGraphLaunch(x, s));
    SHOW(cudaStreamSynchronize(s));
    VALUE(value_of(d));
    cudaGraphExecDestroy(x), cudaGraphDestroy(g);
  }
  SHOW(cudaGetLastError());
}
