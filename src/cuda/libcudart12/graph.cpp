// SPDX-License-Identifier: Apache-2.0
// Graphs and captures: edges carried no data.
#include <cstdio>

#include "cuda/libcudart12/runtime13.h"

namespace {

// cudaLaunchParams, which CUDA 13 gave up.
struct LaunchParams {
  void* function;
  dim3 grid, block;
  void** arguments;
  size_t shared;
  cudaStream_t stream;
};

}  // namespace

US_API12 cudaError_t us12_cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to, size_t n) {
  return US_CALL13(cudaGraphAddDependencies)(g, from, to, nullptr, n);
}
US_API12 cudaError_t us12_cudaGraphRemoveDependencies(cudaGraph_t g, const cudaGraphNode_t* from,
                                                      const cudaGraphNode_t* to, size_t n) {
  return US_CALL13(cudaGraphRemoveDependencies)(g, from, to, nullptr, n);
}
US_API12 cudaError_t us12_cudaGraphGetEdges(cudaGraph_t g, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* n) {
  return US_CALL13(cudaGraphGetEdges)(g, from, to, nullptr, n);
}
US_API12 cudaError_t us12_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out, size_t* n) {
  return US_CALL13(cudaGraphNodeGetDependencies)(node, out, nullptr, n);
}
US_API12 cudaError_t us12_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out, size_t* n) {
  return US_CALL13(cudaGraphNodeGetDependentNodes)(node, out, nullptr, n);
}
US_API12 cudaError_t us12_cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t g, const cudaGraphNode_t* before, size_t n,
                                           cudaGraphNodeParams* params) {
  return US_CALL13(cudaGraphAddNode)(out, g, before, nullptr, n, params);
}

#define US_CAPTURE_INFO(suffix, call)                                                                            \
  US_API12 cudaError_t us12_cudaStreamGetCaptureInfo##suffix(cudaStream_t s, cudaStreamCaptureStatus* status,    \
                                                             unsigned long long* id) {                           \
    return call(cudaStreamGetCaptureInfo)(s, status, id, nullptr, nullptr, nullptr, nullptr);                    \
  }                                                                                                              \
  US_API12 cudaError_t us12_cudaStreamGetCaptureInfo_v2##suffix(cudaStream_t s, cudaStreamCaptureStatus* status, \
                                                                unsigned long long* id, cudaGraph_t* graph,      \
                                                                const cudaGraphNode_t** before, size_t* n) {     \
    return call(cudaStreamGetCaptureInfo)(s, status, id, graph, before, nullptr, n);                             \
  }                                                                                                              \
  US_API12 cudaError_t us12_cudaStreamUpdateCaptureDependencies##suffix(cudaStream_t s, cudaGraphNode_t* before, \
                                                                        size_t n, unsigned flags) {              \
    return call(cudaStreamUpdateCaptureDependencies)(s, before, nullptr, n, flags);                              \
  }
US_CAPTURE_INFO(, US_CALL13)
US_CAPTURE_INFO(_ptsz, US_CALL13_PTSZ)

// On one device it is a cooperative launch; grids that wait for each other across devices are not there.
US_API12 cudaError_t us12_cudaLaunchCooperativeKernelMultiDevice(LaunchParams* list, unsigned n, unsigned) {
  if (n == 1 && list)
    return US_CALL13(cudaLaunchCooperativeKernel)(list->function, list->grid, list->block, list->arguments,
                                                  list->shared, list->stream);
  std::fputs("understudy: cudaLaunchCooperativeKernelMultiDevice is not supported for several devices\n", stderr);
  return cudaErrorNotSupported;
}
