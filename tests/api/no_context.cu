// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Driver calls of a thread that has no current context: streams, events, memory and graphs that were made in one.
#include <sys/wait.h>
#include <unistd.h>

#include "no_context.h"

using namespace no_context;

namespace {

CUcontext context, out;
CUstream stream, other, made;
CUevent event, late, made_event;
CUmodule module;
CUfunction function;
CUmemoryPool pool, standard;
CUdeviceptr memory, managed, q;
unsigned host[64];
void* pinned;

void make() {
  context = begin();
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  NEED(cuStreamCreate(&other, CU_STREAM_DEFAULT));
  NEED(cuEventCreate(&event, 0));
  NEED(cuEventCreate(&late, 0));
  NEED(cuModuleLoadData(&module, kText));
  NEED(cuModuleGetFunction(&function, module, "nothing"));
  NEED(cuDeviceGetDefaultMemPool(&standard, 0));
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  NEED(cuMemPoolCreate(&pool, &props));
  NEED(cuMemAlloc(&memory, 4096));
  NEED(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  NEED(cuMemAllocHost(&pinned, 4096));
  NEED(cuCtxSetCurrent(nullptr));
}

void streams() {
  title("a stream of the context");
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  CUdevice device = 7;
  CU(cuStreamGetCtx(stream, &out));
  VALUE(out == context);
  CU(cuStreamGetDevice(stream, &device));
  VALUE(device);
  CU(cuStreamGetId(stream, &id));
  CU(cuStreamGetFlags(stream, &flags));
  CU(cuStreamGetPriority(stream, &priority));
  CU(cuStreamQuery(stream));
  CU(cuStreamSynchronize(stream));
  CU(cuEventRecord(event, stream));
  CU(cuStreamWaitEvent(other, event, 0));
  CU(cuEventSynchronize(event));
  CU(cuEventQuery(event));
  CU(cuEventRecordWithFlags(late, stream, 0));
  CU(cuEventSynchronize(late));
  float ms = -1;
  CU(cuEventElapsedTime(&ms, event, late));
  CU(cuLaunchHostFunc(stream, [](void*) {}, nullptr));
  CU(cuStreamAddCallback(stream, [](CUstream, CUresult, void*) {}, nullptr, 0));
  CU(cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_GLOBAL));
  CUstreamAttrValue value{};
  CU(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  CU(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  CU(cuStreamCopyAttributes(other, stream));
  CU(cuStreamWriteValue32(stream, memory, 5, 0));
  CU(cuStreamWaitValue32(stream, memory, 5, CU_STREAM_WAIT_VALUE_EQ));
  CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
  CUlaunchConfig config{1, 1, 1, 1, 1, 1, 0, stream, nullptr, 0};
  CU(cuLaunchKernelEx(&config, function, nullptr, nullptr));
  CU(cuLaunchCooperativeKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr));
  CU(cuStreamSynchronize(stream));

  title("no stream of its own");
  CU(cuStreamGetCtx(nullptr, &out));
  CU(cuStreamGetId(nullptr, &id));
  CU(cuStreamGetFlags(nullptr, &flags));
  CU(cuStreamGetDevice(nullptr, &device));
  CU(cuStreamQuery(nullptr));
  CU(cuStreamQuery(CU_STREAM_LEGACY));
  CU(cuStreamQuery(CU_STREAM_PER_THREAD));
  CU(cuStreamSynchronize(nullptr));
  CU(cuEventRecord(event, nullptr));
  CU(cuStreamWaitEvent(nullptr, event, 0));
  CU(cuLaunchHostFunc(nullptr, [](void*) {}, nullptr));
  CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  CU(cuStreamCreate(&made, 0));
  CU(cuStreamCreateWithPriority(&made, CU_STREAM_NON_BLOCKING, 0));
  CU(cuEventCreate(&made_event, 0));
}

void capture() {
  title("capture");
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  CU(cuStreamIsCapturing(stream, &status));
  CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
  CU(cuMemsetD32Async(memory, 3, 8, stream));
  CU(cuStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr));
  VALUE(status);
  CU(cuStreamEndCapture(stream, &graph));
  VALUE(graph != nullptr);
  size_t count = 0;
  CU(cuGraphGetNodes(graph, nullptr, &count));
  VALUE(count);
  CU(cuStreamIsCapturing(nullptr, &status));
}

// Each in a process of its own: the real library crashes in some calls (adding a kernel node by its function is one).
void in_child(const char* what, void (*f)(CUgraph)) {
  const pid_t child = fork();
  if (child == 0) {
    make();
    CUgraph graph = nullptr;
    NEED(cuGraphCreate(&graph, 0));
    std::printf("%s\n", what);
    f(graph);
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::printf("  killed\n");
}

CUgraphNode node;
CUgraphExec exec;
CUDA_MEMSET_NODE_PARAMS set_node() { return {memory, 0, 1, 4, 4, 1}; }
CUDA_MEMCPY3D copy_node() {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  copy.WidthInBytes = 16;
  copy.Height = copy.Depth = 1;
  return copy;
}

void graphs() {
  in_child("set, context named", [](CUgraph g) {
    const CUDA_MEMSET_NODE_PARAMS set = set_node();
    CU(cuGraphAddMemsetNode(&node, g, nullptr, 0, &set, context));
  });
  in_child("set, no context named", [](CUgraph g) {
    const CUDA_MEMSET_NODE_PARAMS set = set_node();
    CU(cuGraphAddMemsetNode(&node, g, nullptr, 0, &set, nullptr));
  });
  in_child("copy, context named", [](CUgraph g) {
    const CUDA_MEMCPY3D copy = copy_node();
    CU(cuGraphAddMemcpyNode(&node, g, nullptr, 0, &copy, context));
  });
  in_child("copy, no context named", [](CUgraph g) {
    const CUDA_MEMCPY3D copy = copy_node();
    CU(cuGraphAddMemcpyNode(&node, g, nullptr, 0, &copy, nullptr));
  });
  in_child("host and empty nodes", [](CUgraph g) {
    const CUDA_HOST_NODE_PARAMS call{[](void*) {}, nullptr};
    CU(cuGraphAddHostNode(&node, g, nullptr, 0, &call));
    CU(cuGraphAddEmptyNode(&node, g, nullptr, 0));
  });
  in_child("events", [](CUgraph g) {
    CU(cuGraphAddEventRecordNode(&node, g, nullptr, 0, event));
    CU(cuGraphAddEventWaitNode(&node, g, nullptr, 0, event));
  });
  in_child("allocation", [](CUgraph g) {
    CUDA_MEM_ALLOC_NODE_PARAMS alloc{};
    alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    alloc.bytesize = 4096;
    CU(cuGraphAddMemAllocNode(&node, g, nullptr, 0, &alloc));
    CU(cuGraphAddMemFreeNode(&node, g, &node, 1, alloc.dptr));
  });
  in_child("conditional handle, context named", [](CUgraph g) {
    CUgraphConditionalHandle handle = 0;
    CU(cuGraphConditionalHandleCreate(&handle, g, context, 0, 0));
  });
  in_child("conditional handle, no context named", [](CUgraph g) {
    CUgraphConditionalHandle handle = 0;
    CU(cuGraphConditionalHandleCreate(&handle, g, nullptr, 0, 0));
  });
  in_child("execution", [](CUgraph g) {
    const CUDA_MEMSET_NODE_PARAMS set = set_node();
    NEED(cuCtxSetCurrent(context));
    NEED(cuGraphAddMemsetNode(&node, g, nullptr, 0, &set, context));
    NEED(cuCtxSetCurrent(nullptr));
    CU(cuGraphInstantiate(&exec, g, 0));
    if (!exec) return;
    CU(cuGraphUpload(exec, stream));
    CU(cuGraphLaunch(exec, stream));
    CU(cuGraphLaunch(exec, nullptr));
    CU(cuStreamSynchronize(stream));
    CUgraphExecUpdateResultInfo info{};
    CU(cuGraphExecUpdate(exec, g, &info));
    CU(cuDeviceGraphMemTrim(0));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(g));
  });
}

void memory_calls() {
  title("copies and sets");
  CU(cuMemcpyHtoD(memory, host, 64));
  CU(cuMemcpyDtoH(host, memory, 64));
  CU(cuMemcpyDtoD(memory, memory + 128, 64));
  CU(cuMemcpy(memory, memory + 128, 64));
  CU(cuMemcpyHtoDAsync(memory, pinned, 64, stream));
  CU(cuMemcpyDtoHAsync(pinned, memory, 64, stream));
  CU(cuMemcpyAsync(memory, memory + 128, 64, stream));
  CU(cuMemcpyAsync(memory, memory + 128, 64, nullptr));
  CU(cuMemsetD8(memory, 1, 64));
  CU(cuMemsetD32Async(memory, 1, 16, stream));
  CUDA_MEMCPY2D flat{};
  flat.srcMemoryType = CU_MEMORYTYPE_HOST;
  flat.srcHost = host;
  flat.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  flat.dstDevice = memory;
  flat.WidthInBytes = 16;
  flat.Height = 1;
  CU(cuMemcpy2D(&flat));
  CU(cuMemcpy2DAsync(&flat, stream));
  CU(cuMemPrefetchAsync(managed, 4096, {CU_MEM_LOCATION_TYPE_DEVICE, {0}}, 0, stream));
  CU(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, {CU_MEM_LOCATION_TYPE_DEVICE, {0}}));

  title("allocation");
  size_t bytes = 0, all = 0;
  void* page = nullptr;
  CUdeviceptr base = 0;
  CU(cuMemAlloc(&q, 256));
  CU(cuMemAllocManaged(&q, 256, CU_MEM_ATTACH_GLOBAL));
  CU(cuMemAllocHost(&page, 256));
  CU(cuMemHostAlloc(&page, 256, 0));
  CU(cuMemHostRegister(host, sizeof host, 0));
  CU(cuMemHostGetDevicePointer(&base, pinned, 0));
  CU(cuMemGetInfo(&bytes, &all));
  CU(cuMemGetAddressRange(&base, &bytes, memory));
  int type = 0;
  CU(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
  CU(cuPointerGetAttribute(&out, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  int on = 1;
  CU(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
  CU(cuMemAllocFromPoolAsync(&q, 256, pool, stream));
  CU(cuMemFreeAsync(q, stream));
  CU(cuMemAllocAsync(&q, 256, stream));
  CU(cuMemFreeAsync(q, stream));
  CU(cuMemAllocAsync(&q, 256, nullptr));
  CU(cuMemPoolTrimTo(pool, 0));
  cuuint64_t threshold = 0;
  CU(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  CUmemoryPool asked = nullptr;
  CU(cuDeviceGetMemPool(&asked, 0));
  CU(cuDeviceSetMemPool(0, pool));
  CU(cuDeviceSetMemPool(0, standard));
  CU(cuMemPoolDestroy(pool));
  CU(cuMemFree(memory));
  CU(cuMemFree(managed));
  CU(cuMemFreeHost(pinned));

  title("virtual memory");
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  CUmemGenericAllocationHandle handle = 0;
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, {0}}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CU(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CU(cuMemAddressReserve(&base, bytes, 0, 0, 0));
  CU(cuMemCreate(&handle, bytes, &prop, 0));
  CU(cuMemMap(base, bytes, 0, handle, 0));
  CU(cuMemSetAccess(base, bytes, &access, 1));
  CU(cuMemsetD32Async(base, 4, 16, stream));
  CU(cuMemsetD32(base, 4, 16));
  CU(cuStreamSynchronize(stream));
  CU(cuMemUnmap(base, bytes));
  CU(cuMemRelease(handle));
  CU(cuMemAddressFree(base, bytes));
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  title("graphs");
  graphs();
  make();
  streams();
  capture();
  memory_calls();
  title("destruction");
  CU(cuStreamDestroy(stream));
  CU(cuEventDestroy(event));
  CU(cuCtxGetCurrent(&out));
  VALUE(out != nullptr);
  return 0;
}
