// SPDX-License-Identifier: Apache-2.0
// Executable graphs: instantiation, launch, setters, updates and their refusals, disabled nodes, memory nodes,
// conditions.
// needs: cuda_device_runtime_api.h
#include <vector>

#include "api.h"

__global__ void store(int* p, int v) { *p = v; }
__global__ void add(int* p, int v) { *p += v; }
__global__ void three(int* p, int v, int w) { *p = v + w; }
__global__ void decide(cudaGraphConditionalHandle h, int* p) {
  *p -= 1;
  cudaGraphSetConditional(h, *p > 0);
}
__global__ void choose(cudaGraphConditionalHandle h, unsigned v) { cudaGraphSetConditional(h, v); }

namespace {
int *d, *hits;
cudaStream_t s;
void CUDART_CB count(void* p) { ++*static_cast<int*>(p); }

int read(int i = 0) {
  int v = -1;
  MUST(cudaStreamSynchronize(s));
  MUST(cudaMemcpy(&v, d + i, 4, cudaMemcpyDeviceToHost));
  return v;
}
struct Kernel {
  int* p;
  int v, w = 0;
  void* args[3];
  cudaKernelNodeParams params{};
  Kernel(void (*f)(int*, int), int* p_, int v_) : p(p_), v(v_), args{&p, &v, &w} { set(reinterpret_cast<void*>(f)); }
  Kernel(void (*f)(int*, int, int), int* p_, int v_) : p(p_), v(v_), args{&p, &v, &w} { set(reinterpret_cast<void*>(f)); }
  void set(void* f) {
    params.func = f;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = args;
  }
};
void update(const char* what, cudaGraphExec_t x, cudaGraph_t g, cudaGraphNode_t expected = nullptr) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t e = cudaGraphExecUpdate(x, g, &info);
  std::printf("%-60s %d result %d node %d (%d) from %d\n", what, e, info.result, info.errorNode != nullptr, info.errorNode == expected,
              info.errorFromNode != nullptr);
  cudaGetLastError();
}

void instantiation() {
  cudaGraph_t g;
  cudaGraphExec_t x = nullptr;
  unsigned long long flags = 77;
  MUST(cudaGraphCreate(&g, 0));
  SHOW(cudaGraphInstantiate(&x, g, 0));
  SHOW(cudaGraphLaunch(x, s));
  SHOW(cudaGraphExecGetFlags(x, &flags));
  VALUE(flags);
  SHOW(cudaGraphExecGetFlags(x, nullptr));
  SHOW(cudaGraphExecDestroy(x));
  SHOW(cudaGraphInstantiate(nullptr, g, 0));
  SHOW(cudaGraphInstantiate(&x, nullptr, 0));
  for (unsigned long long f : {1ull, 2ull, 4ull, 8ull, 16ull, 32ull, 12ull, 5ull}) {
    std::printf("flags %llu: ", f);
    if (SHOW(cudaGraphInstantiate(&x, g, f)) != cudaSuccess) continue;
    cudaGraphExecGetFlags(x, &flags);
    VALUE(flags);
    cudaGraphExecDestroy(x);
  }
  cudaGraphInstantiateParams p{};
  p.flags = cudaGraphInstantiateFlagUpload;
  p.uploadStream = s;
  SHOW(cudaGraphInstantiateWithParams(&x, g, &p));
  VALUE(p.result_out);
  VALUE(p.errNode_out == nullptr);
  SHOW(cudaGraphInstantiateWithParams(&x, g, nullptr));
  SHOW(cudaGraphUpload(x, s));
  SHOW(cudaGraphUpload(nullptr, s));
  SHOW(cudaGraphLaunch(nullptr, s));
  cudaHostNodeParams h{count, hits};
  cudaGraphNode_t n;
  MUST(cudaGraphAddHostNode(&n, g, nullptr, 0, &h));
  p.flags = cudaGraphInstantiateFlagDeviceLaunch;
  SHOW(cudaGraphInstantiateWithParams(&x, g, &p));
  VALUE(p.result_out);
  VALUE(p.errNode_out == n);
  SHOW(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagDeviceLaunch));
  cudaGetLastError();
  // the executable graph does not follow its graph
  MUST(cudaGraphInstantiate(&x, g, 0));
  MUST(cudaGraphAddHostNode(&n, g, nullptr, 0, &h));
  *hits = 0;
  SHOW(cudaGraphLaunch(x, s));
  SHOW(cudaGraphDestroy(g));
  SHOW(cudaGraphLaunch(x, s));
  MUST(cudaStreamSynchronize(s));
  VALUE(*hits);
  SHOW(cudaGraphLaunch(x, nullptr));
  SHOW(cudaGraphLaunch(x, s));
  SHOW(cudaGraphExecDestroy(x));  // while it may still run
  SHOW(cudaDeviceSynchronize());
  VALUE(*hits);
}

void setters() {
  cudaGraph_t g, g2;
  cudaGraphExec_t x;
  cudaGraphNode_t k, m, c, h, e, foreign, w, child, inside;
  Kernel one(store, d, 1), two(add, d, 10);
  MUST(cudaGraphCreate(&g, 0));
  MUST(cudaGraphCreate(&g2, 0));
  MUST(cudaGraphAddKernelNode(&inside, g2, nullptr, 0, &one.params));
  MUST(cudaGraphAddKernelNode(&k, g, nullptr, 0, &one.params));
  cudaMemsetParams ms{};
  ms.dst = d + 1, ms.value = 3, ms.elementSize = 4, ms.width = 4, ms.height = 1;
  MUST(cudaGraphAddMemsetNode(&m, g, nullptr, 0, &ms));
  MUST(cudaGraphAddMemcpyNode1D(&c, g, &m, 1, d + 8, d + 1, 4, cudaMemcpyDeviceToDevice));
  cudaHostNodeParams hp{count, hits};
  MUST(cudaGraphAddHostNode(&h, g, &c, 1, &hp));
  cudaEvent_t ev, ev2;
  MUST(cudaEventCreate(&ev));
  MUST(cudaEventCreate(&ev2));
  MUST(cudaGraphAddEventRecordNode(&e, g, &h, 1, ev));
  MUST(cudaGraphAddEventWaitNode(&w, g, nullptr, 0, ev2));
  MUST(cudaGraphAddChildGraphNode(&child, g, &k, 1, g2));
  MUST(cudaGraphInstantiate(&x, g, 0));
  *hits = 0;
  SHOW(cudaGraphLaunch(x, s));
  VALUE(read());
  VALUE(read(8));
  VALUE(*hits);
  SHOW(cudaEventQuery(ev));
  SHOW(cudaGraphExecKernelNodeSetParams(x, k, &two.params));
  SHOW(cudaGraphExecMemsetNodeSetParams(x, m, &(ms.value = 9, ms)));
  SHOW(cudaGraphExecMemcpyNodeSetParams1D(x, c, d + 9, d + 2, 8, cudaMemcpyDeviceToDevice));
  SHOW(cudaGraphLaunch(x, s));
  VALUE(read());
  VALUE(read(9));
  // refused
  Kernel wide(store, d, 1);
  wide.params.blockDim = dim3(4096);
  SHOW(cudaGraphExecKernelNodeSetParams(x, k, &wide.params));
  Kernel more(three, d, 1);
  SHOW(cudaGraphExecKernelNodeSetParams(x, k, &more.params));
  SHOW(cudaGraphExecKernelNodeSetParams(x, m, &two.params));
  SHOW(cudaGraphExecKernelNodeSetParams(x, nullptr, &two.params));
  SHOW(cudaGraphExecKernelNodeSetParams(nullptr, k, &two.params));
  SHOW(cudaGraphExecKernelNodeSetParams(x, inside, &two.params));
  MUST(cudaGraphAddKernelNode(&foreign, g, nullptr, 0, &one.params));
  SHOW(cudaGraphExecKernelNodeSetParams(x, foreign, &two.params));
  int here[8];
  SHOW(cudaGraphExecMemcpyNodeSetParams1D(x, c, here, d + 2, 8, cudaMemcpyDeviceToHost));
  SHOW(cudaGraphExecMemcpyNodeSetParams1D(x, c, d, here, 8, cudaMemcpyHostToDevice));
  SHOW(cudaGraphExecMemcpyNodeSetParams1D(x, c, d, d + 1, 0, cudaMemcpyDeviceToDevice));
  SHOW(cudaGraphExecMemcpyNodeSetParams1D(x, m, d, d + 1, 4, cudaMemcpyDeviceToDevice));
  SHOW(cudaGraphExecMemsetNodeSetParams(x, m, &(ms.elementSize = 1, ms)));
  SHOW(cudaGraphExecMemsetNodeSetParams(x, m, &(ms.height = 2, ms.pitch = 64, ms)));
  SHOW(cudaGraphExecMemsetNodeSetParams(x, m, &(ms.height = 1, ms.dst = nullptr, ms)));
  SHOW(cudaGraphExecHostNodeSetParams(x, h, &(hp.userData = here, hp)));
  SHOW(cudaGraphExecHostNodeSetParams(x, h, &(hp.fn = nullptr, hp)));
  SHOW(cudaGraphExecEventRecordNodeSetEvent(x, e, ev2));
  SHOW(cudaGraphExecEventRecordNodeSetEvent(x, e, nullptr));
  SHOW(cudaGraphExecEventRecordNodeSetEvent(x, w, ev));
  SHOW(cudaGraphExecEventWaitNodeSetEvent(x, w, ev));
  SHOW(cudaGraphExecEventWaitNodeSetEvent(x, e, ev));
  SHOW(cudaGraphExecChildGraphNodeSetParams(x, child, g2));
  cudaGraph_t g3;
  MUST(cudaGraphCreate(&g3, 0));
  SHOW(cudaGraphExecChildGraphNodeSetParams(x, child, g3));
  here[0] = 0;
  SHOW(cudaGraphLaunch(x, s));
  MUST(cudaStreamSynchronize(s));
  VALUE(here[0]);
  // enabled
  unsigned on = 7;
  SHOW(cudaGraphNodeGetEnabled(x, k, &on));
  VALUE(on);
  SHOW(cudaGraphNodeSetEnabled(x, k, 0));
  SHOW(cudaGraphNodeGetEnabled(x, k, &on));
  VALUE(on);
  SHOW(cudaGraphNodeSetEnabled(x, h, 0));
  SHOW(cudaGraphNodeSetEnabled(x, m, 0));
  SHOW(cudaGraphNodeSetEnabled(x, c, 0));
  SHOW(cudaGraphNodeSetEnabled(x, e, 0));
  SHOW(cudaGraphNodeSetEnabled(x, child, 0));
  SHOW(cudaGraphNodeSetEnabled(x, foreign, 0));
  SHOW(cudaGraphNodeGetEnabled(x, h, &on));
  SHOW(cudaGraphNodeGetEnabled(x, k, nullptr));
  MUST(cudaMemset(d, 0, 256));
  SHOW(cudaGraphLaunch(x, s));
  VALUE(read());
  VALUE(read(1));
  SHOW(cudaGraphNodeSetEnabled(x, m, 1));
  SHOW(cudaGraphExecKernelNodeSetParams(x, k, &two.params));
  SHOW(cudaGraphNodeGetEnabled(x, k, &on));
  VALUE(on);
  cudaGraphNodeParams np{};
  np.type = cudaGraphNodeTypeHost;
  np.host.fn = count;
  np.host.userData = here + 1;
  SHOW(cudaGraphExecNodeSetParams(x, h, &np));
  SHOW(cudaGraphExecNodeSetParams(x, m, &np));
  SHOW(cudaGraphExecNodeSetParams(x, h, nullptr));
  cudaGetLastError();
  cudaGraphExecDestroy(x), cudaGraphDestroy(g), cudaGraphDestroy(g2);
}

void updates() {
  Kernel a(store, d, 1), b(add, d, 2), c(three, d, 3);
  const auto line = [&](std::vector<Kernel*> ks, std::vector<cudaGraphNode_t>* out = nullptr) {
    cudaGraph_t g;
    MUST(cudaGraphCreate(&g, 0));
    cudaGraphNode_t last = nullptr;
    for (Kernel* k : ks) {
      cudaGraphNode_t n;
      MUST(cudaGraphAddKernelNode(&n, g, &last, last ? 1 : 0, &k->params));
      last = n;
      if (out) out->push_back(n);
    }
    return g;
  };
  std::vector<cudaGraphNode_t> n;
  cudaGraph_t g = line({&a, &b});
  cudaGraphExec_t x;
  MUST(cudaGraphInstantiate(&x, g, 0));
  SHOW(cudaGraphLaunch(x, s));
  VALUE(read());
  a.v = 100;
  update("parameters", x, line({&a, &b}));
  SHOW(cudaGraphLaunch(x, s));
  VALUE(read());
  update("functions", x, line({&b, &a}));
  update("function with other parameters", x, line({&a, &c}));
  SHOW(cudaGraphLaunch(x, s));
  VALUE(read());
  cudaGraph_t longer = line({&a, &b, &b}, &n);
  update("one node more", x, longer, n[2]);
  n.clear();
  update("one node less", x, line({&a}, &n));
  update("none", x, line({}));
  update("null graph", x, nullptr);
  update("null exec", nullptr, g);
  SHOW(cudaGraphExecUpdate(x, g, nullptr));
  cudaGraph_t flat;
  MUST(cudaGraphCreate(&flat, 0));
  cudaGraphNode_t p, q, r;
  MUST(cudaGraphAddKernelNode(&p, flat, nullptr, 0, &a.params));
  MUST(cudaGraphAddKernelNode(&q, flat, nullptr, 0, &b.params));
  update("an edge less", x, flat, q);
  cudaGraph_t typed;
  MUST(cudaGraphCreate(&typed, 0));
  cudaMemsetParams ms{};
  ms.dst = d, ms.value = 3, ms.elementSize = 4, ms.width = 4, ms.height = 1;
  MUST(cudaGraphAddKernelNode(&p, typed, nullptr, 0, &a.params));
  MUST(cudaGraphAddMemsetNode(&r, typed, &p, 1, &ms));
  update("another type", x, typed, r);
  cudaGraph_t attr = line({&a, &b}, &(n.clear(), n));
  cudaLaunchAttributeValue v{};
  v.priority = -2;
  MUST(cudaGraphKernelNodeSetAttribute(n[1], cudaLaunchAttributePriority, &v));
  update("priority", x, attr, n[1]);
  v = {};
  v.cooperative = 1;
  MUST(cudaGraphKernelNodeSetAttribute(n[1], cudaLaunchAttributeCooperative, &v));
  update("cooperative", x, attr, n[1]);
  a.params.gridDim = dim3(2);
  a.params.blockDim = dim3(64);
  update("shape", x, line({&a, &b}));
  a.params.gridDim = a.params.blockDim = dim3(1);

  // sets and copies
  const auto mixed = [&](size_t width, unsigned element, size_t bytes, cudaMemcpyKind kind, void* dst, const void* src, cudaGraphNode_t* set,
                         cudaGraphNode_t* copy) {
    cudaGraph_t h;
    MUST(cudaGraphCreate(&h, 0));
    ms.width = width, ms.elementSize = element;
    MUST(cudaGraphAddMemsetNode(set, h, nullptr, 0, &ms));
    MUST(cudaGraphAddMemcpyNode1D(copy, h, set, 1, dst, src, bytes, kind));
    return h;
  };
  static int here[64];
  cudaGraphExec_t y;
  MUST(cudaGraphInstantiate(&y, mixed(4, 4, 16, cudaMemcpyDeviceToDevice, d, d + 16, &p, &q), 0));
  update("same sets", y, mixed(4, 4, 16, cudaMemcpyDeviceToDevice, d, d + 32, &p, &q));
  update("width of set", y, mixed(8, 4, 16, cudaMemcpyDeviceToDevice, d, d + 32, &p, &q), p);
  update("element of set", y, mixed(4, 1, 16, cudaMemcpyDeviceToDevice, d, d + 32, &p, &q), p);
  update("size of copy", y, mixed(4, 4, 32, cudaMemcpyDeviceToDevice, d, d + 32, &p, &q), q);
  update("direction of copy", y, mixed(4, 4, 16, cudaMemcpyHostToDevice, d, here, &p, &q), q);
  update("other direction of copy", y, mixed(4, 4, 16, cudaMemcpyDeviceToHost, here, d, &p, &q), q);
  cudaGraphExecDestroy(x), cudaGraphExecDestroy(y);
}

void memory() {
  unsigned long long used = 0, zero = 0;
  SHOW(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  VALUE(used);
  cudaGraph_t g;
  cudaGraphNode_t alloc, k, free, c;
  MUST(cudaGraphCreate(&g, 0));
  cudaMemAllocNodeParams a{};
  a.poolProps.allocType = cudaMemAllocationTypePinned;
  a.poolProps.location = cudaMemLocation{cudaMemLocationTypeDevice, 0};
  a.bytesize = 1 << 20;
  MUST(cudaGraphAddMemAllocNode(&alloc, g, nullptr, 0, &a));
  int* p = static_cast<int*>(a.dptr);
  Kernel w(store, p, 41), add1(add, p, 1);
  MUST(cudaGraphAddKernelNode(&k, g, &alloc, 1, &w.params));
  MUST(cudaGraphAddKernelNode(&c, g, &k, 1, &add1.params));
  MUST(cudaGraphAddMemcpyNode1D(&k, g, &c, 1, d, p, 4, cudaMemcpyDeviceToDevice));
  MUST(cudaGraphAddMemFreeNode(&free, g, &k, 1, p));
  cudaGraphExec_t x, y;
  SHOW(cudaGraphInstantiate(&x, g, 0));
  SHOW(cudaGraphInstantiate(&y, g, 0));
  SHOW(cudaGraphLaunch(x, s));
  SHOW(cudaGraphLaunch(x, s));
  VALUE(read());
  SHOW(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  VALUE(used);
  SHOW(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
  VALUE(used);
  SHOW(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &used));
  VALUE(used);
  SHOW(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &used));
  VALUE(used);
  SHOW(cudaDeviceGraphMemTrim(0));
  SHOW(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &used));
  VALUE(used);
  SHOW(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  SHOW(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
  VALUE(used);
  SHOW(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero));
  used = 5;
  SHOW(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
  SHOW(cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemHigh, &used));
  SHOW(cudaDeviceGetGraphMemAttribute(0, static_cast<cudaGraphMemAttributeType>(77), &used));
  SHOW(cudaDeviceGraphMemTrim(99));
  SHOW(cudaGraphExecDestroy(x));
  cudaGetLastError();
  // not freed inside
  cudaGraph_t open;
  MUST(cudaGraphCreate(&open, 0));
  a.bytesize = 4096;
  MUST(cudaGraphAddMemAllocNode(&alloc, open, nullptr, 0, &a));
  p = static_cast<int*>(a.dptr);
  Kernel w2(store, p, 77);
  MUST(cudaGraphAddKernelNode(&k, open, &alloc, 1, &w2.params));
  SHOW(cudaGraphInstantiate(&x, open, 0));
  SHOW(cudaGraphLaunch(x, s));
  SHOW(cudaGraphLaunch(x, s));
  MUST(cudaMemcpyAsync(d, p, 4, cudaMemcpyDeviceToDevice, s));
  VALUE(read());
  SHOW(cudaFreeAsync(p, s));
  SHOW(cudaGraphLaunch(x, s));
  SHOW(cudaStreamSynchronize(s));
  SHOW(cudaFree(p));
  SHOW(cudaGraphLaunch(x, s));
  SHOW(cudaGraphExecDestroy(x));
  SHOW(cudaFreeAsync(p, s));
  SHOW(cudaGraphInstantiate(&x, open, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  SHOW(cudaGraphLaunch(x, s));
  SHOW(cudaGraphLaunch(x, s));
  SHOW(cudaStreamSynchronize(s));
  SHOW(cudaFree(p));
  SHOW(cudaFree(p));
  cudaGraphExecUpdateResultInfo info{};
  SHOW(cudaGraphExecUpdate(x, open, &info));
  VALUE(info.result);
  SHOW(cudaGraphExecDestroy(x));
  SHOW(cudaGraphDestroy(open));
  SHOW(cudaDeviceGraphMemTrim(0));
  SHOW(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  VALUE(used);
  cudaGetLastError();
}

void conditions() {
  cudaGraph_t g;
  cudaGraphNode_t k, cond, n;
  cudaGraphConditionalHandle h;
  {
    MUST(cudaGraphCreate(&g, 0));
    SHOW(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams p{};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = h;
    p.conditional.type = cudaGraphCondTypeWhile;
    p.conditional.size = 1;
    SHOW(cudaGraphAddNode(&cond, g, nullptr, nullptr, 0, &p));
    cudaGraph_t body = p.conditional.phGraph_out[0];
    Kernel inc(add, d + 1, 5);
    MUST(cudaGraphAddKernelNode(&k, body, nullptr, 0, &inc.params));
    void* args[] = {&h, &d};
    cudaKernelNodeParams dk{};
    dk.func = reinterpret_cast<void*>(decide);
    dk.gridDim = dk.blockDim = dim3(1);
    dk.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&n, body, &k, 1, &dk));
    cudaGraphExec_t x;
    SHOW(cudaGraphInstantiate(&x, g, 0));
    int start[2] = {6, 0};
    for (int i = 0; i < 2; ++i) {
      MUST(cudaMemcpy(d, start, 8, cudaMemcpyHostToDevice));
      SHOW(cudaGraphLaunch(x, s));
      VALUE(read(0));
      VALUE(read(1));
    }
    cudaGraphExecUpdateResultInfo info{};
    SHOW(cudaGraphExecUpdate(x, g, &info));
    VALUE(info.result);
    cudaGetLastError();
    cudaGraphExecDestroy(x);
    cudaGraphDestroy(g);
  }
  for (int type : {0, 2})
    for (unsigned v : {0u, 1u, 2u, 5u}) {
      MUST(cudaGraphCreate(&g, 0));
      MUST(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
      void* args[] = {&h, &v};
      cudaKernelNodeParams dk{};
      dk.func = reinterpret_cast<void*>(choose);
      dk.gridDim = dk.blockDim = dim3(1);
      dk.kernelParams = args;
      MUST(cudaGraphAddKernelNode(&n, g, nullptr, 0, &dk));
      cudaGraphNodeParams p{};
      p.type = cudaGraphNodeTypeConditional;
      p.conditional.handle = h;
      p.conditional.type = static_cast<cudaGraphConditionalNodeType>(type);
      p.conditional.size = type == 0 ? 2 : 3;
      MUST(cudaGraphAddNode(&cond, g, &n, nullptr, 1, &p));
      for (unsigned i = 0; i < p.conditional.size; ++i) {
        Kernel body(store, d, static_cast<int>(100 + i));
        MUST(cudaGraphAddKernelNode(&k, p.conditional.phGraph_out[i], nullptr, 0, &body.params));
      }
      Kernel after(add, d, 1000);
      MUST(cudaGraphAddKernelNode(&k, g, &cond, 1, &after.params));
      cudaGraphExec_t x;
      MUST(cudaGraphInstantiate(&x, g, 0));
      MUST(cudaMemset(d, 0, 4));
      MUST(cudaGraphLaunch(x, s));
      std::printf("type %d value %u: %d\n", type, v, read());
      cudaGraphExecDestroy(x);
      cudaGraphDestroy(g);
    }
}

void empties() {  // an executable graph of each kind of launch
  Kernel a(add, d, 1);
  cudaGraph_t g;
  cudaGraphNode_t n;
  MUST(cudaMemset(d, 0, 4));
  MUST(cudaGraphCreate(&g, 0));
  MUST(cudaGraphAddKernelNode(&n, g, nullptr, 0, &a.params));
  cudaGraphExec_t x;
  MUST(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagUseNodePriority));
  cudaStream_t t;
  MUST(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  for (int i = 0; i < 50; ++i) {  // launches of one executable graph never overlap
    MUST(cudaGraphLaunch(x, s));
    MUST(cudaGraphLaunch(x, t));
    MUST(cudaGraphLaunch(x, cudaStreamPerThread));
    MUST(cudaGraphLaunch(x, nullptr));
  }
  MUST(cudaDeviceSynchronize());
  VALUE(read());
}
}  // namespace

int main() {
  MUST(cudaMalloc(&d, 1 << 16));
  MUST(cudaMallocHost(&hits, 64));
  MUST(cudaStreamCreate(&s));
  instantiation();
  setters();
  updates();
  memory();
  conditions();
  empties();
  SHOW(cudaGetLastError());
}
