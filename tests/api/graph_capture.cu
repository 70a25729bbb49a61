// SPDX-License-Identifier: Apache-2.0
// What captures record: nodes, edges, kinds, parameters, dependencies that the program changes; the graphs compute.
#include <vector>

#include "api.h"

__global__ void times_plus(int* p, int factor, int plus) { *p = *p * factor + plus; }
__global__ void sum(int* out, const int* a, const int* b) { *out = *a + *b; }

namespace {
void kinds(const char* name, cudaGraph_t g) {
  size_t n = 0, e = 0, roots = 0;
  SHOW(cudaGraphGetNodes(g, nullptr, &n));
  SHOW(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &e));
  SHOW(cudaGraphGetRootNodes(g, nullptr, &roots));
  std::vector<cudaGraphNode_t> nodes(n), from(e), to(e);
  cudaGraphGetNodes(g, nodes.data(), &n);
  cudaGraphGetEdges(g, from.data(), to.data(), nullptr, &e);
  std::printf("%s: %zu nodes, %zu edges, %zu roots, kinds", name, n, e, roots);
  const auto index = [&](cudaGraphNode_t x) {
    size_t i = 0;
    while (i < n && nodes[i] != x) ++i;
    return i;
  };
  for (cudaGraphNode_t x : nodes) {
    cudaGraphNodeType t;
    cudaGraphNodeGetType(x, &t);
    std::printf(" %d", t);
  }
  std::printf(", edges");
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t k = 0; k < e; ++k)
        if (index(from[k]) == i && index(to[k]) == j) std::printf(" %zu-%zu", i, j);
  std::printf("\n");
}
void info(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  cudaGraph_t g = nullptr;
  const cudaGraphNode_t* deps = nullptr;
  size_t n = 99;
  SHOW(cudaStreamGetCaptureInfo(s, &status, &id, &g, &deps, nullptr, &n));
  std::printf("  status %d, id %d, graph %d, %zu dependencies\n", status, id != 0, g != nullptr, status == 1 ? n : 0);
}
void CUDART_CB count(void* p) { ++*static_cast<int*>(p); }
}  // namespace

int main() {
  int *d, *pinned, host[4] = {1, 2, 3, 4}, calls = 0;
  MUST(cudaMalloc(&d, 1024));
  MUST(cudaMallocHost(&pinned, 64));
  cudaStream_t s, t, u;
  cudaEvent_t e, f;
  MUST(cudaStreamCreate(&s));
  MUST(cudaStreamCreate(&t));
  MUST(cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking));
  MUST(cudaEventCreate(&e));
  MUST(cudaEventCreate(&f));
  times_plus<<<1, 1>>>(d, 0, 0);
  sum<<<1, 1>>>(d, d, d);
  MUST(cudaDeviceSynchronize());
  info(s);
  {  // a line: everything behind each other
    cudaGraph_t g;
    cudaGraphExec_t x;
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    info(s);
    MUST(cudaMemsetAsync(d, 0, 16, s));
    times_plus<<<1, 1, 0, s>>>(d, 1, 5);
    MUST(cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s));
    MUST(cudaLaunchHostFunc(s, count, &calls));
    times_plus<<<1, 1, 0, s>>>(d, 2, 1);
    info(s);
    SHOW(cudaStreamEndCapture(s, &g));
    info(s);
    kinds("line", g);
    SHOW(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 3; ++i) SHOW(cudaGraphLaunch(x, s));
    SHOW(cudaStreamSynchronize(s));
    VALUE(calls);
    VALUE(*pinned);
    MUST(cudaMemcpy(host, d, 4, cudaMemcpyDeviceToHost));
    VALUE(host[0]);
    SHOW(cudaGraphExecDestroy(x));
    SHOW(cudaGraphDestroy(g));
  }
  {  // fork and join over three streams
    cudaGraph_t g;
    cudaGraphExec_t x;
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    MUST(cudaMemsetAsync(d, 0, 64, s));
    MUST(cudaEventRecord(e, s));
    MUST(cudaStreamWaitEvent(t, e, 0));
    MUST(cudaStreamWaitEvent(u, e, 0));
    times_plus<<<1, 1, 0, s>>>(d, 1, 7);
    times_plus<<<1, 1, 0, t>>>(d + 1, 1, 30);
    times_plus<<<1, 1, 0, u>>>(d + 2, 1, 500);
    info(t);
    info(u);
    MUST(cudaEventRecord(f, t));
    MUST(cudaStreamWaitEvent(s, f, 0));
    info(s);
    sum<<<1, 1, 0, s>>>(d + 3, d, d + 1);
    MUST(cudaEventRecord(f, u));
    MUST(cudaStreamWaitEvent(s, f, 0));
    info(s);
    sum<<<1, 1, 0, s>>>(d + 4, d + 3, d + 2);
    SHOW(cudaStreamEndCapture(s, &g));
    kinds("fork", g);
    SHOW(cudaGraphInstantiate(&x, g, 0));
    SHOW(cudaGraphLaunch(x, t));
    int out[5] = {};
    MUST(cudaMemcpyAsync(out, d, sizeof out, cudaMemcpyDeviceToHost, t));
    SHOW(cudaStreamSynchronize(t));
    for (int v : out) VALUE(v);
    // a graph cannot be launched in a captured stream; it can be a child
    cudaGraph_t outer;
    MUST(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
    SHOW(cudaGraphLaunch(x, t));
    SHOW(cudaStreamEndCapture(t, &outer));
    MUST(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
    times_plus<<<1, 1, 0, t>>>(d + 4, 2, 0);
    MUST(cudaStreamEndCapture(t, &outer));
    cudaGraphNode_t tail, child;
    size_t one = 1;
    MUST(cudaGraphGetRootNodes(outer, &tail, &one));
    SHOW(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, g));
    SHOW(cudaGraphAddDependencies(outer, &child, &tail, nullptr, 1));
    kinds("outer", outer);
    cudaGraphExec_t y;
    SHOW(cudaGraphInstantiate(&y, outer, 0));
    SHOW(cudaGraphLaunch(y, t));
    MUST(cudaMemcpyAsync(out, d, sizeof out, cudaMemcpyDeviceToHost, t));
    SHOW(cudaStreamSynchronize(t));
    for (int v : out) VALUE(v);
    cudaGraphExecDestroy(x), cudaGraphExecDestroy(y), cudaGraphDestroy(g), cudaGraphDestroy(outer);
  }
  {  // the program names the dependencies
    cudaGraph_t g, same = nullptr;
    cudaGraphNode_t a;
    const cudaGraphNode_t* deps;
    size_t n = 0;
    MUST(cudaGraphCreate(&g, 0));
    MUST(cudaGraphAddEmptyNode(&a, g, nullptr, 0));
    SHOW(cudaStreamBeginCaptureToGraph(s, g, &a, nullptr, 1, cudaStreamCaptureModeGlobal));
    info(s);
    times_plus<<<1, 1, 0, s>>>(d, 1, 1);
    SHOW(cudaStreamGetCaptureInfo(s, nullptr, nullptr, &same, &deps, nullptr, &n));
    SHOW(cudaGetLastError());
    cudaStreamCaptureStatus status;
    MUST(cudaStreamGetCaptureInfo(s, &status, nullptr, &same, &deps, nullptr, &n));
    VALUE(same == g);
    VALUE(n);
    cudaGraphNode_t b, c = deps[0];
    SHOW(cudaGraphAddEmptyNode(&b, g, &c, 1));
    SHOW(cudaStreamUpdateCaptureDependencies(s, &b, nullptr, 1, cudaStreamAddCaptureDependencies));
    info(s);
    times_plus<<<1, 1, 0, s>>>(d, 1, 1);
    SHOW(cudaStreamUpdateCaptureDependencies(s, &a, nullptr, 1, cudaStreamSetCaptureDependencies));
    info(s);
    times_plus<<<1, 1, 0, s>>>(d, 1, 1);
    SHOW(cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
    info(s);
    times_plus<<<1, 1, 0, s>>>(d, 1, 1);
    SHOW(cudaStreamUpdateCaptureDependencies(s, &a, nullptr, 1, 7));
    SHOW(cudaStreamUpdateCaptureDependencies(t, &a, nullptr, 1, 0));
    cudaGraph_t wrong;
    cudaGraphNode_t foreign;
    MUST(cudaGraphCreate(&wrong, 0));
    MUST(cudaGraphAddEmptyNode(&foreign, wrong, nullptr, 0));
    SHOW(cudaStreamUpdateCaptureDependencies(s, &foreign, nullptr, 1, 0));
    info(s);
    SHOW(cudaStreamEndCapture(s, &same));
    VALUE(same == g);
    kinds("named", g);
    SHOW(cudaStreamBeginCaptureToGraph(s, g, &foreign, nullptr, 1, cudaStreamCaptureModeGlobal));
    SHOW(cudaStreamBeginCaptureToGraph(s, g, &a, nullptr, 0, cudaStreamCaptureModeGlobal));
    times_plus<<<1, 1, 0, s>>>(d, 1, 1);
    SHOW(cudaStreamEndCapture(s, nullptr));
    info(s);
    SHOW(cudaStreamEndCapture(s, &same));
    kinds("again", g);
    SHOW(cudaStreamGetCaptureInfo(s, nullptr));
    SHOW(cudaStreamIsCapturing(s, nullptr));
    SHOW(cudaStreamBeginCaptureToGraph(s, nullptr, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    cudaGetLastError();
  }
  {  // an event of a capture that has ended
    cudaGraph_t g = nullptr;
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    SHOW(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
    SHOW(cudaStreamWaitEvent(s, e, cudaEventWaitExternal));
    SHOW(cudaMemsetAsync(d, 1, 16, s));
    SHOW(cudaStreamEndCapture(s, &g));
    SHOW(cudaStreamWaitEvent(t, e, 0));
    SHOW(cudaEventQuery(e));
    SHOW(cudaEventSynchronize(e));
    SHOW(cudaEventRecord(e, t));
    SHOW(cudaEventSynchronize(e));
    cudaGetLastError();
  }
  {  // kinds of copies and sets, events outside, programmatic edges
    cudaGraph_t g;
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    SHOW(cudaMemcpyAsync(d, host, 16, cudaMemcpyHostToDevice, s));
    SHOW(cudaMemcpyAsync(host, d, 16, cudaMemcpyDefault, s));
    SHOW(cudaMemcpy2DAsync(d, 64, host, 8, 8, 2, cudaMemcpyHostToDevice, s));
    SHOW(cudaMemset2DAsync(d, 64, 1, 8, 2, s));
    SHOW(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
    SHOW(cudaStreamWaitEvent(s, e, cudaEventWaitExternal));
    void* m;
    SHOW(cudaMallocAsync(&m, 4096, s));
    SHOW(cudaMemsetAsync(m, 1, 4096, s));
    SHOW(cudaFreeAsync(m, s));
    cudaLaunchConfig_t c{};
    c.gridDim = c.blockDim = dim3(1);
    c.stream = s;
    cudaLaunchAttribute at[1];
    at[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    at[0].val.programmaticStreamSerializationAllowed = 1;
    c.attrs = at;
    SHOW(cudaLaunchKernelEx(&c, times_plus, d, 1, 1));
    c.numAttrs = 1;
    SHOW(cudaLaunchKernelEx(&c, times_plus, d, 1, 1));
    SHOW(cudaLaunchKernelEx(&c, times_plus, d, 1, 1));
    SHOW(cudaStreamEndCapture(s, &g));
    kinds("copies", g);
    size_t n = 0;
    MUST(cudaGraphGetNodes(g, nullptr, &n));
    std::vector<cudaGraphNode_t> nodes(n);
    MUST(cudaGraphGetNodes(g, nodes.data(), &n));
    for (cudaGraphNode_t x : nodes) {
      cudaGraphNodeType type;
      cudaGraphNodeGetType(x, &type);
      if (type == cudaGraphNodeTypeMemcpy) {
        cudaMemcpy3DParms p{};
        SHOW(cudaGraphMemcpyNodeGetParams(x, &p));
        std::printf("  kind %d, extent %zu %zu %zu, pitches %zu %zu, dst %d src %d\n", p.kind, p.extent.width, p.extent.height, p.extent.depth,
                    p.dstPtr.pitch, p.srcPtr.pitch, p.dstPtr.ptr == d, p.srcPtr.ptr == d);
      } else if (type == cudaGraphNodeTypeMemset) {
        cudaMemsetParams p{};
        SHOW(cudaGraphMemsetNodeGetParams(x, &p));
        std::printf("  element %u, width %zu, height %zu, pitch %zu, value %u\n", p.elementSize, p.width, p.height, p.pitch, p.value);
      } else if (type == cudaGraphNodeTypeKernel) {
        cudaKernelNodeParams p{};
        SHOW(cudaGraphKernelNodeGetParams(x, &p));
        std::printf("  grid %u block %u shared %u, extra %d, second %d, func %d\n", p.gridDim.x, p.blockDim.x, p.sharedMemBytes, p.extra != nullptr,
                    *static_cast<int*>(p.kernelParams[1]), p.func == (void*)times_plus);
        size_t k = 0;
        SHOW(cudaGraphNodeGetDependencies(x, nullptr, nullptr, &k));
        cudaGraphNode_t from[4];
        cudaGraphEdgeData edge[4];
        if (k && k <= 4) {
          SHOW(cudaGraphNodeGetDependencies(x, from, edge, &k));
          std::printf("  edge: %d %d %d\n", edge[0].from_port, edge[0].to_port, edge[0].type);
          SHOW(cudaGraphNodeGetDependencies(x, from, nullptr, &k));
        }
        cudaKernelNodeAttrValue v{};
        SHOW(cudaGraphKernelNodeGetAttribute(x, cudaLaunchAttributeProgrammaticStreamSerialization, &v));
        VALUE(v.programmaticStreamSerializationAllowed);
        SHOW(cudaGraphKernelNodeGetAttribute(x, cudaLaunchAttributePriority, &v));
        VALUE(v.priority);
      }
    }
    cudaGetLastError();
    cudaGraphExec_t x;
    SHOW(cudaGraphInstantiate(&x, g, 0));
    SHOW(cudaGraphLaunch(x, s));
    SHOW(cudaStreamSynchronize(s));
    cudaGraphExecDestroy(x), cudaGraphDestroy(g);
  }
  SHOW(cudaGetLastError());
}
