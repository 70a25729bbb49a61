// SPDX-License-Identifier: Apache-2.0
// The driver API's graphs: the same objects under other names, its own parameter structs, batches of memory operations.
// flags: -lcuda
#include <cstring>
#include <vector>

#include "cu.h"

__global__ void store(int* p, int v) { *p = v; }
__global__ void add(int* p, int v) { *p += v; }

namespace {
void CUDA_CB count(void* p) { ++*static_cast<int*>(p); }
CUdeviceptr d;
CUstream s;
CUcontext ctx;
int read(int i = 0) {
  int v = -1;
  cuStreamSynchronize(s);
  cuMemcpyDtoH(&v, d + 4 * static_cast<unsigned>(i), 4);
  return v;
}
CUfunction function(const void* symbol) {
  cudaFunction_t f = nullptr;
  MUST(cudaGetFuncBySymbol(&f, symbol));
  return reinterpret_cast<CUfunction>(f);
}

void capture() {
  CUgraph g = nullptr;
  CUgraphExec x = nullptr;
  CUstreamCaptureStatus status;
  cuuint64_t id = 0;
  size_t n = 0;
  const CUgraphNode* deps = nullptr;
  CU(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CU(cuStreamIsCapturing(s, &status));
  VALUE(status);
  CU(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CU(cuStreamIsCapturing(s, &status));
  VALUE(status);
  CU(cuMemsetD32Async(d, 5, 4, s));
  CU(cuMemcpyDtoDAsync(d + 64, d, 16, s));
  CU(cuStreamGetCaptureInfo(s, &status, &id, &g, &deps, nullptr, &n));
  VALUE(n);
  CUdeviceptr none = 0;
  CU(cuMemAlloc(&none, 256));
  CU(cuStreamEndCapture(s, &g));
  VALUE(g == nullptr);
  CU(cuCtxSynchronize());
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  CU(cuThreadExchangeStreamCaptureMode(&mode));
  VALUE(mode);
  CU(cuThreadExchangeStreamCaptureMode(&mode));
  VALUE(mode);
  mode = static_cast<CUstreamCaptureMode>(8);
  CU(cuThreadExchangeStreamCaptureMode(&mode));
  CU(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU(cuMemsetD32Async(d, 5, 4, s));
  CU(cuMemsetD8Async(d + 16, 7, 4, s));
  CU(cuMemcpyDtoDAsync(d + 64, d, 16, s));
  CU(cuStreamWriteValue32(s, d + 128, 17, 0));
  CU(cuStreamWaitValue32(s, d + 128, 17, CU_STREAM_WAIT_VALUE_EQ));
  CU(cuCtxSynchronize());
  CU(cuStreamEndCapture(s, &g));
  CU(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU(cuMemsetD32Async(d, 5, 4, s));
  CU(cuMemsetD8Async(d + 16, 7, 4, s));
  CU(cuMemcpyDtoDAsync(d + 64, d, 16, s));
  CU(cuStreamWriteValue32(s, d + 128, 17, 0));
  CU(cuStreamWaitValue32(s, d + 128, 17, CU_STREAM_WAIT_VALUE_EQ));
  CU(cuStreamEndCapture(s, &g));
  CU(cuGraphGetNodes(g, nullptr, &n));
  VALUE(n);
  std::vector<CUgraphNode> nodes(n);
  CU(cuGraphGetNodes(g, nodes.data(), &n));
  for (CUgraphNode x : nodes) {
    CUgraphNodeType t;
    CU(cuGraphNodeGetType(x, &t));
    VALUE(t);
    if (t == CU_GRAPH_NODE_TYPE_MEMCPY) {
      CUDA_MEMCPY3D p;
      CU(cuGraphMemcpyNodeGetParams(x, &p));
      std::printf("  %d %d width %zu height %zu depth %zu pitch %zu %zu dst %d\n", p.srcMemoryType, p.dstMemoryType, p.WidthInBytes, p.Height,
                  p.Depth, p.srcPitch, p.dstPitch, p.dstDevice == d + 64);
    }
    if (t == CU_GRAPH_NODE_TYPE_MEMSET) {
      CUDA_MEMSET_NODE_PARAMS p;
      CU(cuGraphMemsetNodeGetParams(x, &p));
      std::printf("  element %u width %zu height %zu value %u\n", p.elementSize, p.width, p.height, p.value);
    }
    if (t == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
      CUDA_BATCH_MEM_OP_NODE_PARAMS p;
      CU(cuGraphBatchMemOpNodeGetParams(x, &p));
      std::printf("  count %u operation %d\n", p.count, p.paramArray[0].operation);
    }
  }
  CU(cuGraphInstantiate(&x, g, 0));
  CU(cuGraphLaunch(x, s));
  VALUE(read(16));
  VALUE(read(32));
  CU(cuGraphExecDestroy(x));
  CU(cuGraphDestroy(g));
}

void nodes() {
  CUgraph g;
  CUgraphNode a, b, c, h, e;
  CU(cuGraphCreate(&g, 0));
  CU(cuGraphCreate(&g, 4));
  CU(cuGraphCreate(nullptr, 0));
  int v = 5;
  void* args[] = {&d, &v};
  CUDA_KERNEL_NODE_PARAMS k{}, r{};
  k.func = function(reinterpret_cast<const void*>(store));
  k.gridDimX = k.gridDimY = k.gridDimZ = k.blockDimX = k.blockDimY = k.blockDimZ = 1;
  k.kernelParams = args;
  CU(cuGraphAddKernelNode(&a, g, nullptr, 0, &k));
  CU(cuGraphKernelNodeGetParams(a, &r));
  VALUE(r.blockDimX);
  VALUE(*static_cast<int*>(r.kernelParams[1]));
  k.blockDimX = 5000;
  CU(cuGraphAddKernelNode(&b, g, nullptr, 0, &k));
  k.blockDimX = 1;
  struct {
    CUdeviceptr p;
    int v;
  } packed{d, 9};
  size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  k.extra = extra;
  CU(cuGraphAddKernelNode(&b, g, &a, 1, &k));
  k.kernelParams = nullptr;
  CU(cuGraphAddKernelNode(&b, g, &a, 1, &k));
  CU(cuGraphKernelNodeGetParams(b, &r));
  VALUE(r.kernelParams == nullptr);
  VALUE(r.extra == nullptr);
  k.func = nullptr;
  CU(cuGraphAddKernelNode(&c, g, &a, 1, &k));
  CUDA_MEMCPY3D m{};
  m.srcMemoryType = m.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  m.srcDevice = d;
  m.dstDevice = d + 64;
  m.WidthInBytes = 8;
  m.Height = m.Depth = 1;
  CU(cuGraphAddMemcpyNode(&c, g, &b, 1, &m, ctx));
  m.WidthInBytes = 1 << 30;
  CU(cuGraphAddMemcpyNode(&h, g, &b, 1, &m, ctx));
  m.WidthInBytes = 0;
  CU(cuGraphAddMemcpyNode(&h, g, &b, 1, &m, ctx));
  CUDA_HOST_NODE_PARAMS hp{count, &v};
  CU(cuGraphAddHostNode(&h, g, &c, 1, &hp));
  CU(cuGraphAddEmptyNode(&e, g, nullptr, 0));
  CU(cuGraphAddDependencies(g, &h, &e, nullptr, 1));
  size_t n = 0;
  CU(cuGraphGetEdges(g, nullptr, nullptr, nullptr, &n));
  VALUE(n);
  CUgraphExec x;
  CU(cuGraphInstantiate(&x, g, 0));
  CU(cuGraphLaunch(x, s));
  VALUE(read());
  VALUE(read(16));
  VALUE(v);
  CU(cuGraphLaunch(x, nullptr));
  CU(cuCtxSynchronize());
  VALUE(v);
  cuuint64_t flags = 9;
  CU(cuGraphExecGetFlags(x, &flags));
  VALUE(flags);
  // batches of memory operations
  CUstreamBatchMemOpParams ops[3] = {};
  ops[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  ops[0].writeValue.address = d + 200;
  ops[0].writeValue.value = 33;
  ops[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  ops[1].waitValue.address = d + 200;
  ops[1].waitValue.value = 30;
  ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  ops[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  ops[2].writeValue.address = d + 208;
  ops[2].writeValue.value64 = 0x100000002;
  CUDA_BATCH_MEM_OP_NODE_PARAMS bp{ctx, 3, ops, 0}, back{};
  CUgraphNode ob;
  CU(cuGraphAddBatchMemOpNode(&ob, g, &e, 1, &bp));
  bp.count = 300;
  CU(cuGraphAddBatchMemOpNode(&b, g, &e, 1, &bp));
  bp.count = 0;
  CU(cuGraphAddBatchMemOpNode(&b, g, &e, 1, &bp));
  bp.count = 1;
  bp.flags = 7;
  CU(cuGraphAddBatchMemOpNode(&b, g, &e, 1, &bp));
  CU(cuGraphBatchMemOpNodeGetParams(ob, &back));
  VALUE(back.count);
  CUgraphExec y;
  CU(cuGraphInstantiate(&y, g, 0));
  CU(cuGraphLaunch(y, s));
  VALUE(read(50));
  VALUE(read(52));
  ops[2].writeValue.value64 = 77;
  bp = {ctx, 3, ops, 0};
  CU(cuGraphExecBatchMemOpNodeSetParams(y, ob, &bp));
  CU(cuGraphLaunch(y, s));
  VALUE(read(52));
  CUgraphExecUpdateResultInfo info{};
  CU(cuGraphExecUpdate(x, g, &info));
  VALUE(info.result);
  CU(cuGraphExecUpdate(y, g, &info));
  VALUE(info.result);
  CU(cuGraphExecDestroy(x));
  CU(cuGraphExecDestroy(y));
  CU(cuGraphDestroy(g));
}
}  // namespace

int main() {
  MUST(cudaFree(nullptr));
  CU(cuCtxGetCurrent(&ctx));
  CU(cuMemAlloc(&d, 4096));
  CU(cuStreamCreate(&s, 0));
  capture();
  nodes();
  CU(cuStreamDestroy(s));
  CU(cuMemFree(d));
}
