// SPDX-License-Identifier: Apache-2.0
// Two devices in one process: streams and events of both, copies between them, memory of one in a kernel of the other.
// On a real machine: two GPUs that can be peers.
#include <cstdlib>

#include "api.h"

__attribute__((constructor(101))) static void choose() { setenv("UNDERSTUDY_DEVICES", "2", 1); }

__global__ void fill(int* p, int n, int first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = first + i;
}
__global__ void add(int* to, const int* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}
__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {}
}
__device__ int own = 3;
__global__ void set_own(int v) { own += v; }

int main() {
  constexpr int n = 1 << 16;
  int count = 0, device = -1, value = 0, can = 0;
  SHOW(cudaGetDeviceCount(&count));
  VALUE(count >= 2);
  SHOW(cudaSetDevice(count));
  SHOW(cudaDeviceCanAccessPeer(&can, 0, 1));
  VALUE(can);
  SHOW(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
  VALUE(value);
  SHOW(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
  cudaGetLastError();

  int *a, *b, *flag;
  cudaStream_t s0, s1;
  cudaEvent_t e0, e1;
  MUST(cudaSetDevice(0));
  MUST(cudaMalloc(&a, n * sizeof(int)));
  MUST(cudaStreamCreate(&s0));
  MUST(cudaEventCreateWithFlags(&e0, cudaEventDisableTiming));
  MUST(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocPortable));
  SHOW(cudaDeviceEnablePeerAccess(1, 0));
  MUST(cudaSetDevice(1));
  MUST(cudaMalloc(&b, n * sizeof(int)));
  MUST(cudaStreamCreate(&s1));
  MUST(cudaEventCreateWithFlags(&e1, cudaEventDisableTiming));
  SHOW(cudaDeviceEnablePeerAccess(0, 0));
  SHOW(cudaGetDevice(&device));
  VALUE(device);

  cudaPointerAttributes pa;
  SHOW(cudaPointerGetAttributes(&pa, a));
  VALUE(pa.device);
  SHOW(cudaPointerGetAttributes(&pa, b));
  VALUE(pa.device);

  // device 1 waits for device 0; a kernel of device 1 reads what is on device 0
  *flag = 0;
  MUST(cudaSetDevice(0));
  wait_for<<<1, 1, 0, s0>>>(flag);
  fill<<<n / 256, 256, 0, s0>>>(a, n, 1000);
  SHOW(cudaEventRecord(e0, s0));
  MUST(cudaSetDevice(1));
  fill<<<n / 256, 256, 0, s1>>>(b, n, 1);
  SHOW(cudaStreamWaitEvent(s1, e0, 0));
  add<<<n / 256, 256, 0, s1>>>(b, a, n);
  SHOW(cudaStreamQuery(s1));
  cudaGetLastError();
  *static_cast<volatile int*>(flag) = 1;
  SHOW(cudaStreamSynchronize(s1));
  MUST(cudaMemcpy(&value, b + n - 1, sizeof value, cudaMemcpyDeviceToHost));
  VALUE(value);

  // copies
  SHOW(cudaMemcpyPeerAsync(a, 0, b, 1, n * sizeof(int), s1));
  SHOW(cudaEventRecord(e1, s1));
  SHOW(cudaEventSynchronize(e1));
  MUST(cudaMemcpy(&value, a + 5, sizeof value, cudaMemcpyDefault));
  VALUE(value);
  SHOW(cudaMemcpy(b, a + 5, 20, cudaMemcpyDefault));
  MUST(cudaMemcpy(&value, b, sizeof value, cudaMemcpyDefault));
  VALUE(value);
  SHOW(cudaMemcpyPeer(b, 1, a, 0, n * sizeof(int)));
  SHOW(cudaMemcpyPeer(b, 1, a, 9, 4));
  cudaMemcpy3DPeerParms p = {};
  p.srcDevice = 0;
  p.srcPtr = make_cudaPitchedPtr(a, 256, 64, 4);
  p.dstDevice = 1;
  p.dstPtr = make_cudaPitchedPtr(b, 512, 64, 4);
  p.extent = make_cudaExtent(64, 4, 2);
  SHOW(cudaMemcpy3DPeer(&p));
  MUST(cudaMemcpy(&value, b + 7 * 128 + 15, sizeof value, cudaMemcpyDefault));
  VALUE(value);

  // what belongs to one device cannot be used with the other
  MUST(cudaSetDevice(0));
  cudaGetLastError();
  fill<<<1, 32, 0, s1>>>(a, 32, 70);
  SHOW(cudaGetLastError());
  MUST(cudaStreamSynchronize(s1));
  MUST(cudaMemcpy(&value, a + 1, sizeof value, cudaMemcpyDefault));
  VALUE(value);
  SHOW(cudaEventRecord(e1, s0));
  cudaGetLastError();

  // variables are there once per device
  MUST(cudaSetDevice(0));
  set_own<<<1, 1>>>(10);
  MUST(cudaMemcpyFromSymbol(&value, own, sizeof value));
  VALUE(value);
  MUST(cudaSetDevice(1));
  MUST(cudaMemcpyFromSymbol(&value, own, sizeof value));
  VALUE(value);
  SHOW(cudaDeviceDisablePeerAccess(0));
  SHOW(cudaDeviceDisablePeerAccess(0));
  SHOW(cudaFree(a));
  SHOW(cudaFree(b));
  SHOW(cudaStreamDestroy(s0));
  SHOW(cudaStreamDestroy(s1));
  SHOW(cudaFreeHost(flag));
  return 0;
}
