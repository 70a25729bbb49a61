// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Allocation nodes of other kinds of memory than the device's own. A graph's managed memory is not accessible to the
// host: on a real device a read by the host ends the process with a signal.
#include "cu.h"

__global__ void fills(int* p, int n) { p[threadIdx.x] = n + threadIdx.x; }

namespace {
cudaError_t add(cudaGraph_t g, cudaMemAllocationType type, cudaMemLocationType location, int id, void** at, cudaGraphNode_t* node, size_t bytes = 4096) {
  cudaMemAllocNodeParams p{};
  p.poolProps.allocType = type;
  p.poolProps.location.type = location;
  p.poolProps.location.id = id;
  p.bytesize = bytes;
  const cudaError_t e = cudaGraphAddMemAllocNode(node, g, nullptr, 0, &p);
  if (at) *at = p.dptr;
  cudaGetLastError();
  return e;
}

void kinds() {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  cudaGraphNode_t node;
  void* at;
  SHOW(add(g, cudaMemAllocationTypePinned, cudaMemLocationTypeDevice, 0, &at, &node));
  SHOW(add(g, cudaMemAllocationTypeManaged, cudaMemLocationTypeDevice, 0, &at, &node));
  SHOW(add(g, cudaMemAllocationTypeManaged, cudaMemLocationTypeDevice, 99, &at, &node));
  SHOW(add(g, cudaMemAllocationTypeManaged, cudaMemLocationTypeHost, 0, &at, &node));
  SHOW(add(g, cudaMemAllocationTypeManaged, cudaMemLocationTypeNone, 0, &at, &node));
  SHOW(add(g, cudaMemAllocationTypeManaged, cudaMemLocationTypeInvalid, 0, &at, &node));
  SHOW(add(g, cudaMemAllocationTypeManaged, cudaMemLocationTypeHostNuma, 0, &at, &node));
  SHOW(add(g, cudaMemAllocationTypePinned, cudaMemLocationTypeHost, 0, &at, &node));
  SHOW(add(g, cudaMemAllocationTypePinned, cudaMemLocationTypeHostNuma, 0, &at, &node));
  SHOW(add(g, cudaMemAllocationTypeInvalid, cudaMemLocationTypeDevice, 0, &at, &node));
  SHOW(add(g, cudaMemAllocationTypeManaged, cudaMemLocationTypeDevice, 0, &at, &node, 0));
}

void use() {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  cudaGraphNode_t node, kernel, last;
  void* at = nullptr;
  if (SHOW(add(g, cudaMemAllocationTypeManaged, cudaMemLocationTypeDevice, 0, &at, &node)) != cudaSuccess) return;
  cudaMemAllocNodeParams got{};
  SHOW(cudaGraphMemAllocNodeGetParams(node, &got));
  VALUE(got.poolProps.allocType);
  VALUE(got.dptr == at);
  cudaPointerAttributes a{};
  int n = 100;
  void* args[] = {&at, &n};
  cudaKernelNodeParams k{};
  k.func = reinterpret_cast<void*>(fills);
  k.gridDim = dim3(1), k.blockDim = dim3(32);
  k.kernelParams = args;
  MUST(cudaGraphAddKernelNode(&kernel, g, &node, 1, &k));
  cudaGraphExec_t e;
  SHOW(cudaGraphInstantiate(&e, g, 0));
  SHOW(cudaGraphLaunch(e, nullptr));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaPointerGetAttributes(&a, at));
  VALUE(a.type);
  int word = 0;
  SHOW(cudaMemcpy(&word, static_cast<int*>(at) + 31, 4, cudaMemcpyDeviceToHost));
  VALUE(word);
  SHOW(cudaFreeAsync(at, nullptr));
  SHOW(cudaDeviceSynchronize());
  MUST(cudaGraphExecDestroy(e));
  MUST(cudaGraphDestroy(g));

  MUST(cudaGraphCreate(&g, 0));
  MUST(add(g, cudaMemAllocationTypeManaged, cudaMemLocationTypeDevice, 0, &at, &node));
  MUST(cudaGraphAddKernelNode(&kernel, g, &node, 1, &k));
  SHOW(cudaGraphAddMemFreeNode(&last, g, &kernel, 1, at));
  SHOW(cudaGraphInstantiate(&e, g, 0));
  SHOW(cudaGraphLaunch(e, nullptr));
  SHOW(cudaGraphLaunch(e, nullptr));
  SHOW(cudaDeviceSynchronize());
}
}  // namespace

int main() {
  kinds();
  use();
  return 0;
}
