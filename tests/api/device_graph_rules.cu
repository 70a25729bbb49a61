// SPDX-License-Identifier: Apache-2.0
// flags: -rdc=true -lcudadevrt
// What may be in a graph that is to be launched from the device, and what may be done with nodes that kernels change.
#include <cstring>
#include <vector>

#include "api.h"

__global__ void plain(int* p) { if (p) *p = 1; }
__global__ void parent(int* p) { plain<<<1, 1>>>(p); }
void CUDART_CB nothing(void*) {}

cudaGraph_t fresh() {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  return g;
}

cudaGraphNode_t kernel_node(cudaGraph_t g, void* f, int* argument, int blocks = 1) {
  void* args[] = {&argument};
  cudaKernelNodeParams p = {};
  p.func = f;
  p.gridDim = blocks;
  p.blockDim = 32;
  p.kernelParams = args;
  cudaGraphNode_t n;
  MUST(cudaGraphAddKernelNode(&n, g, nullptr, 0, &p));
  return n;
}

void try_it(const char* what, cudaGraph_t g, cudaGraphNode_t expected, unsigned long long flags = cudaGraphInstantiateFlagDeviceLaunch) {
  cudaGraphExec_t e = nullptr;
  cudaGraphInstantiateParams p = {};
  p.flags = flags;
  const cudaError_t code = cudaGraphInstantiateWithParams(&e, g, &p);
  std::printf("%-60s %3d %-36s result %d, node %s\n", what, code, cudaGetErrorName(code), static_cast<int>(p.result_out),
              !p.errNode_out ? "none" : p.errNode_out == expected ? "that" : "another");
  if (code == cudaSuccess) {
    unsigned long long told = 99;
    cudaGraphExecGetFlags(e, &told);
    std::printf("  flags %llu, launch %d, ", told, cudaGraphLaunch(e, nullptr));
    std::printf("end %d\n", cudaDeviceSynchronize());
    cudaGraphExecDestroy(e);
  }
  cudaGetLastError();
}

void copies(int* d) {
  int *pinned = nullptr, pageable[4] = {1, 2, 3, 4};
  MUST(cudaMallocHost(&pinned, 16));
  cudaGraphNode_t n;
  const auto copy = [&](const char* what, void* to, const void* from, cudaMemcpyKind kind) {
    cudaGraph_t g = fresh();
    const cudaError_t e = cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, to, from, 16, kind);
    if (e == cudaSuccess) try_it(what, g, n);
    cudaGraphDestroy(g);
  };
  copy("copy on the device", d, d + 4, cudaMemcpyDeviceToDevice);
  copy("copy from pinned memory", d, pinned, cudaMemcpyHostToDevice);
  copy("copy to pinned memory", pinned, d, cudaMemcpyDeviceToHost);
  copy("copy from pinned memory, direction not said", d, pinned, cudaMemcpyDefault);
  copy("copy from pageable memory", d, pageable, cudaMemcpyHostToDevice);
  copy("copy to pageable memory", pageable, d, cudaMemcpyDeviceToHost);
  cudaArray_t array;
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  MUST(cudaMallocArray(&array, &ints, 4, 1));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(d, 16, 4, 1);
  p.dstArray = array;
  p.extent = make_cudaExtent(4, 1, 1);
  p.kind = cudaMemcpyDeviceToDevice;
  cudaGraph_t g = fresh();
  MUST(cudaGraphAddMemcpyNode(&n, g, nullptr, 0, &p));
  try_it("copy to an array", g, n);
  cudaGraphDestroy(g);
}

void kinds(int* d) {
  cudaGraphNode_t n, m;
  cudaGraph_t g = fresh();
  try_it("empty graph", g, nullptr);
  MUST(cudaGraphAddEmptyNode(&n, g, nullptr, 0));
  try_it("empty node alone", g, n);
  m = kernel_node(g, reinterpret_cast<void*>(plain), d);
  try_it("empty node and a kernel", g, n);
  g = fresh();
  n = kernel_node(g, reinterpret_cast<void*>(plain), d);
  try_it("kernel", g, n);
  try_it("kernel, auto free too", g, n, cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagAutoFreeOnLaunch);
  try_it("kernel, node priority too", g, n, cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority);
  try_it("kernel, upload too", g, n, cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUpload);
  cudaHostNodeParams h = {nothing, nullptr};
  MUST(cudaGraphAddHostNode(&m, g, nullptr, 0, &h));
  try_it("and a host node", g, m);
  MUST(cudaGraphDestroyNode(m));
  cudaEvent_t e;
  MUST(cudaEventCreate(&e));
  MUST(cudaGraphAddEventRecordNode(&m, g, nullptr, 0, e));
  try_it("and an event record node", g, m);
  MUST(cudaGraphDestroyNode(m));
  MUST(cudaGraphAddEventWaitNode(&m, g, nullptr, 0, e));
  try_it("and an event wait node", g, m);
  MUST(cudaGraphDestroyNode(m));
  cudaMemsetParams set = {};
  set.dst = d;
  set.elementSize = 4;
  set.width = 4;
  set.height = 1;
  MUST(cudaGraphAddMemsetNode(&m, g, nullptr, 0, &set));
  try_it("and a memset node", g, m);
  cudaGraph_t outer = fresh();
  MUST(cudaGraphAddChildGraphNode(&m, outer, nullptr, 0, g));
  try_it("child graph", outer, m);
  cudaGraph_t with_host = fresh();
  MUST(cudaGraphAddHostNode(&m, with_host, nullptr, 0, &h));
  MUST(cudaGraphAddChildGraphNode(&m, outer, nullptr, 0, with_host));
  try_it("child graph with a host node", outer, m);
  cudaGraph_t family = fresh();
  n = kernel_node(family, reinterpret_cast<void*>(parent), d);
  try_it("kernel that launches", family, n);
  try_it("kernel that launches, from the host only", family, n, 0);
  cudaGraph_t allocating = fresh();
  cudaMemAllocNodeParams a = {};
  a.poolProps.allocType = cudaMemAllocationTypePinned;
  a.poolProps.location.type = cudaMemLocationTypeDevice;
  a.bytesize = 1024;
  MUST(cudaGraphAddMemAllocNode(&n, allocating, nullptr, 0, &a));
  MUST(cudaGraphAddMemFreeNode(&m, allocating, &n, 1, a.dptr));
  try_it("memory nodes", allocating, n);
  cudaGraph_t conditional = fresh();
  cudaGraphConditionalHandle handle;
  MUST(cudaGraphConditionalHandleCreate(&handle, conditional, 0, cudaGraphCondAssignDefault));
  cudaGraphNodeParams c = {};
  c.type = cudaGraphNodeTypeConditional;
  c.conditional.handle = handle;
  c.conditional.type = cudaGraphCondTypeIf;
  c.conditional.size = 1;
  MUST(cudaGraphAddNode(&n, conditional, nullptr, nullptr, 0, &c));
  kernel_node(c.conditional.phGraph_out[0], reinterpret_cast<void*>(plain), d);
  try_it("conditional node", conditional, n);
  cudaGraph_t together = fresh();
  n = kernel_node(together, reinterpret_cast<void*>(plain), d, 4);
  cudaLaunchAttributeValue v = {};
  v.cooperative = 1;
  MUST(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeCooperative, &v));
  try_it("cooperative kernel", together, n);
}

void uploads(int* d) {
  cudaGraph_t g = fresh();
  kernel_node(g, reinterpret_cast<void*>(plain), d);
  cudaGraphExec_t e, host_only;
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  SHOW(cudaGraphInstantiate(&e, g, cudaGraphInstantiateFlagDeviceLaunch));
  SHOW(cudaGraphInstantiate(&host_only, g, 0));
  SHOW(cudaGraphUpload(e, s));
  SHOW(cudaGraphUpload(e, nullptr));
  SHOW(cudaGraphUpload(host_only, s));
  SHOW(cudaGraphUpload(nullptr, s));
  SHOW(cudaGraphInstantiate(&e, g, 16));
  SHOW(cudaGraphInstantiate(&e, g, cudaGraphInstantiateFlagUpload));
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  SHOW(cudaGraphUpload(host_only, s));
  cudaGraph_t none;
  SHOW(cudaStreamEndCapture(s, &none));
  SHOW(cudaDeviceSynchronize());
  cudaGetLastError();
}

cudaError_t make_updatable(cudaGraphNode_t n, int on, cudaGraphDeviceNode_t* out = nullptr) {
  cudaLaunchAttributeValue v = {};
  v.deviceUpdatableKernelNode.deviceUpdatable = on;
  const cudaError_t e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeDeviceUpdatableKernelNode, &v);
  std::printf("  handle %s\n", v.deviceUpdatableKernelNode.devNode ? "given" : "none");
  if (out) *out = v.deviceUpdatableKernelNode.devNode;
  return e;
}

void updatable(int* d) {
  cudaGraph_t g = fresh(), other = fresh(), copy;
  cudaGraphNode_t n = kernel_node(g, reinterpret_cast<void*>(plain), d), m = kernel_node(g, reinterpret_cast<void*>(plain), d), k;
  cudaGraphDeviceNode_t a = nullptr, b = nullptr;
  cudaLaunchAttributeValue v = {};
  SHOW(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
  VALUE(v.deviceUpdatableKernelNode.deviceUpdatable);
  SHOW(make_updatable(n, 0));
  SHOW(make_updatable(n, 2));
  SHOW(make_updatable(n, 1, &a));
  SHOW(make_updatable(n, 1, &b));
  VALUE(a == b);
  SHOW(make_updatable(n, 0));
  SHOW(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
  VALUE(v.deviceUpdatableKernelNode.deviceUpdatable);
  VALUE(v.deviceUpdatableKernelNode.devNode == a);
  SHOW(cudaGraphKernelNodeCopyAttributes(m, n));
  SHOW(cudaGraphKernelNodeCopyAttributes(n, m));
  SHOW(cudaGraphDestroyNode(n));
  SHOW(cudaGraphClone(&copy, g));
  SHOW(cudaGraphAddChildGraphNode(&k, other, nullptr, 0, g));
  cudaGraphExec_t e, twice;
  SHOW(cudaGraphInstantiate(&e, g, cudaGraphInstantiateFlagDeviceLaunch));
  SHOW(cudaGraphInstantiate(&twice, g, cudaGraphInstantiateFlagDeviceLaunch));
  cudaGraphExecUpdateResultInfo info = {};
  SHOW(cudaGraphExecUpdate(e, g, &info));
  VALUE(info.result);
  unsigned on = 9;
  SHOW(cudaGraphNodeGetEnabled(e, n, &on));
  SHOW(cudaGraphNodeSetEnabled(e, n, 0));
  SHOW(cudaGraphNodeSetEnabled(e, n, 1));
  cudaKernelNodeParams p = {};
  SHOW(cudaGraphKernelNodeGetParams(n, &p));
  SHOW(cudaGraphExecKernelNodeSetParams(e, n, &p));
  p.func = reinterpret_cast<void*>(parent);
  SHOW(cudaGraphExecKernelNodeSetParams(e, n, &p));
  SHOW(cudaGraphLaunch(e, nullptr));
  SHOW(cudaGraphUpload(e, nullptr));
  SHOW(cudaGraphLaunch(e, nullptr));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaGraphExecDestroy(e));
  SHOW(cudaGraphInstantiate(&twice, g, 0));
  SHOW(make_updatable(m, 1, &b));
  SHOW(cudaGraphDestroy(g));
  cudaGetLastError();
  // with a launch
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  config.gridDim = config.blockDim = 1;
  config.stream = s;
  config.attrs = &attribute;
  config.numAttrs = 1;
  attribute.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
  attribute.val.deviceUpdatableKernelNode.deviceUpdatable = 1;
  SHOW(cudaLaunchKernelEx(&config, plain, d));
  SHOW(cudaGetLastError());
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  SHOW(cudaLaunchKernelEx(&config, plain, d));
  VALUE(attribute.val.deviceUpdatableKernelNode.devNode != nullptr);
  attribute.val.deviceUpdatableKernelNode.deviceUpdatable = 0;
  SHOW(cudaLaunchKernelEx(&config, plain, d));
  attribute.val.deviceUpdatableKernelNode.devNode = nullptr;
  SHOW(cudaLaunchKernelEx(&config, plain, d));
  SHOW(cudaStreamEndCapture(s, &g));
  SHOW(cudaGraphInstantiate(&e, g, 0));
  SHOW(cudaGraphLaunch(e, s));
  SHOW(cudaStreamSynchronize(s));
}

int main() {
  int* d = nullptr;
  MUST(cudaMalloc(&d, 4096));
  kinds(d);
  copies(d);
  uploads(d);
  updatable(d);
  return 0;
}
