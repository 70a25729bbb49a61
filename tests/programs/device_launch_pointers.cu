// SPDX-License-Identifier: Apache-2.0
// flags: -rdc=true -lcudadevrt
// Dynamic parallelism: calls of the runtime API in kernels with invalid pointers.
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"
using namespace program;

struct Answer {
  int code, came_back;
};
enum Call {
  kStream, kEvent, kMalloc, kDevice, kCount, kLimit, kAttribute, kVersion, kOccupancy, kAttributes, kCopyTo, kCopyFrom, kSet, kCalls
};
const char* const kNames[kCalls] = {
    "cudaStreamCreateWithFlags", "cudaEventCreateWithFlags", "cudaMalloc", "cudaGetDevice", "cudaGetDeviceCount",
    "cudaDeviceGetLimit", "cudaDeviceGetAttribute", "cudaRuntimeGetVersion", "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaFuncGetAttributes", "cudaMemcpyAsync to it", "cudaMemcpyAsync from it", "cudaMemsetAsync"};

__global__ void empty() {}
__device__ int words[4];

__device__ cudaError_t call(int which, unsigned long long at) {
  void* const p = reinterpret_cast<void*>(at);
  switch (which) {
    case kStream: return cudaStreamCreateWithFlags(static_cast<cudaStream_t*>(p), cudaStreamNonBlocking);
    case kEvent: return cudaEventCreateWithFlags(static_cast<cudaEvent_t*>(p), cudaEventDisableTiming);
    case kMalloc: return cudaMalloc(static_cast<void**>(p), 64);
    case kDevice: return cudaGetDevice(static_cast<int*>(p));
    case kCount: return cudaGetDeviceCount(static_cast<int*>(p));
    case kLimit: return cudaDeviceGetLimit(static_cast<size_t*>(p), cudaLimitMallocHeapSize);
    case kAttribute: return cudaDeviceGetAttribute(static_cast<int*>(p), cudaDevAttrWarpSize, 0);
    case kVersion: return cudaRuntimeGetVersion(static_cast<int*>(p));
    case kOccupancy: return cudaOccupancyMaxActiveBlocksPerMultiprocessor(static_cast<int*>(p), empty, 64, 0);
    case kAttributes: return cudaFuncGetAttributes(static_cast<cudaFuncAttributes*>(p), empty);
    case kCopyTo: return cudaMemcpyAsync(p, words, 8, cudaMemcpyDeviceToDevice, 0);
    case kCopyFrom: return cudaMemcpyAsync(words, p, 8, cudaMemcpyDeviceToDevice, 0);
    default: return cudaMemsetAsync(p, 0, 8, 0);
  }
}
__global__ void calls(int which, unsigned long long at, Answer* a) {
  empty<<<1, 1>>>();
  if (threadIdx.x) return;
  a->code = call(which, at);
  a->came_back = 1;
  __threadfence_system();
}

__global__ void takes(int*) {}
__global__ void updates(bool apply, cudaGraphDeviceNode_t node, unsigned long long at, Answer* a) {
  void* const p = reinterpret_cast<void*>(at);
  a->code = apply ? cudaGraphKernelNodeUpdatesApply(static_cast<cudaGraphKernelNodeUpdate*>(p), 1)
                  : cudaGraphKernelNodeSetParam(node, 0, p, sizeof(int*));
  a->came_back = 1;
  __threadfence_system();
}

// A node that kernels may change.
cudaGraphDeviceNode_t updatable() {
  cudaGraph_t g;
  cudaGraphExec_t e;
  cudaGraphNode_t n;
  int* argument = nullptr;
  void* arguments[] = {&argument};
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(takes);
  p.gridDim = p.blockDim = 1;
  p.kernelParams = arguments;
  MUST(cudaGraphCreate(&g, 0));
  MUST(cudaGraphAddKernelNode(&n, g, nullptr, 0, &p));
  cudaLaunchAttributeValue v = {};
  v.deviceUpdatableKernelNode.deviceUpdatable = 1;
  MUST(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
  MUST(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
  MUST(cudaGraphInstantiate(&e, g, 0));
  MUST(cudaGraphUpload(e, 0));
  MUST(cudaGraphLaunch(e, 0));
  MUST(cudaDeviceSynchronize());
  return v.deviceUpdatableKernelNode.devNode;
}

// In a process of its own: a fault is the end of it.
template <typename Start>
void show_call(const char* name, unsigned long long at, Start start) {
  if (const pid_t child = fork(); child != 0) {
    int status = 0;
    waitpid(child, &status, 0);
    if (status) std::printf("%s %llx: ended with %d\n", name, at, status);
    return;
  }
  Answer* a;
  MUST(cudaHostAlloc(&a, sizeof *a, cudaHostAllocMapped));
  *a = {-1, 0};
  start(a);
  const cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
  std::printf("%-46s %-18llx launch %d, ", name, at, launched);
  if (ran == cudaSuccess) std::printf("code %d, ", a->code);  // else the rest of the kernel may or may not have run
  std::printf("%s\n", cudaGetErrorName(ran));
  std::_Exit(0);
}

int main() {
  const unsigned long long bad[] = {0, 0x1000, 0xdead000000000000ull};
  for (int which = 0; which < kCalls; ++which)
    for (const unsigned long long at : bad)
      show_call(kNames[which], at, [&](Answer* a) { calls<<<1, 32>>>(which, at, a); });
  for (const bool apply : {false, true})
    for (const unsigned long long at : bad)
      show_call(apply ? "cudaGraphKernelNodeUpdatesApply" : "cudaGraphKernelNodeSetParam", at,
                [&](Answer* a) { updates<<<1, 1>>>(apply, updatable(), at, a); });
}
