// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Events and streams, right and wrong: flags, destroyed handles, time between events, both APIs.
#include "cu.h"

__global__ void plain() {}
__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {}
}

void flags() {
  cudaEvent_t e;
  for (unsigned f : {0u, 1u, 2u, 3u, 4u, 6u, 7u, 8u, 64u, ~0u}) {
    const cudaError_t code = cudaEventCreateWithFlags(&e, f);
    std::printf("event flags %u: %d\n", f, code);
    if (code == cudaSuccess) {
      std::printf("  record %d, synchronise %d, query %d", cudaEventRecord(e, nullptr), cudaEventSynchronize(e), cudaEventQuery(e));
      std::printf(", destroy %d\n", cudaEventDestroy(e));
    }
    CUevent d;
    const CUresult r = cuEventCreate(&d, f);
    std::printf("  driver %d\n", r);
    if (r == CUDA_SUCCESS) std::printf("  destroy %d\n", cuEventDestroy(d));
  }
  SHOW(cudaEventCreate(nullptr));
  SHOW(cudaEventCreateWithFlags(nullptr, 0));
  CU(cuEventCreate(nullptr, 0));
  cudaStream_t s;
  for (unsigned f : {0u, 1u, 2u, 3u, ~0u}) {
    std::printf("stream flags %u: %d", f, cudaStreamCreateWithFlags(&s, f));
    CUstream d;
    std::printf(" driver %d %d\n", cuStreamCreate(&d, f), cuStreamCreateWithPriority(&d, f, -1));
  }
  SHOW(cudaStreamCreate(nullptr));
  SHOW(cudaStreamCreateWithPriority(nullptr, 0, 0));
  CU(cuStreamCreate(nullptr, 0));
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
}

void null_handles() {
  float ms = 0;
  cudaEvent_t e;
  MUST(cudaEventCreate(&e));
  SHOW(cudaEventRecord(nullptr, nullptr));
  SHOW(cudaEventRecordWithFlags(e, nullptr, 1));
  SHOW(cudaEventRecordWithFlags(e, nullptr, 2));
  SHOW(cudaEventRecordWithFlags(e, nullptr, 0));
  SHOW(cudaEventQuery(nullptr));
  SHOW(cudaEventSynchronize(nullptr));
  SHOW(cudaEventDestroy(nullptr));
  SHOW(cudaEventElapsedTime(&ms, nullptr, e));
  SHOW(cudaEventElapsedTime(&ms, e, nullptr));
  SHOW(cudaStreamWaitEvent(nullptr, nullptr, 0));
  SHOW(cudaStreamWaitEvent(nullptr, e, 1));
  SHOW(cudaStreamWaitEvent(nullptr, e, 2));
  SHOW(cudaStreamWaitEvent(nullptr, e, 0));
  SHOW(cudaStreamGetFlags(nullptr, nullptr));
  SHOW(cudaStreamGetPriority(nullptr, nullptr));
  unsigned long long id = 0;
  SHOW(cudaStreamGetId(nullptr, &id));
  SHOW(cudaStreamGetId(cudaStreamPerThread, &id));
  SHOW(cudaStreamGetId(cudaStreamLegacy, &id));
  int device = 9;
  SHOW(cudaStreamGetDevice(nullptr, &device));
  VALUE(device);
  SHOW(cudaLaunchHostFunc(nullptr, nullptr, nullptr));
  SHOW(cudaStreamAddCallback(nullptr, nullptr, nullptr, 0));
  SHOW(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  SHOW(cudaStreamBeginCapture(cudaStreamPerThread, static_cast<cudaStreamCaptureMode>(7)));
  SHOW(cudaStreamEndCapture(cudaStreamPerThread, nullptr));
  SHOW(cudaGetLastError());
  CU(cuEventRecord(nullptr, nullptr));
  CU(cuEventQuery(nullptr));
  CU(cuEventSynchronize(nullptr));
  CU(cuEventDestroy(nullptr));
  CU(cuEventElapsedTime(&ms, nullptr, e));
  CU(cuStreamWaitEvent(nullptr, nullptr, 0));
  CU(cuStreamWaitEvent(nullptr, e, 4));
  CU(cuStreamDestroy(nullptr));
  CU(cuStreamGetFlags(nullptr, nullptr));
  CU(cuLaunchHostFunc(nullptr, nullptr, nullptr));
}

void times() {
  cudaEvent_t a, b, untimed;
  float ms = -7;
  MUST(cudaEventCreate(&a));
  MUST(cudaEventCreate(&b));
  MUST(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  SHOW(cudaEventElapsedTime(&ms, a, b));
  SHOW(cudaEventRecord(a, nullptr));
  SHOW(cudaEventSynchronize(a));
  SHOW(cudaEventElapsedTime(&ms, a, b));
  SHOW(cudaEventElapsedTime(&ms, a, a));
  VALUE(ms == 0);
  SHOW(cudaEventElapsedTime(&ms, untimed, a));
  SHOW(cudaEventRecord(b, nullptr));
  SHOW(cudaEventSynchronize(b));
  SHOW(cudaEventElapsedTime(&ms, a, b));
  VALUE(ms >= 0);
  SHOW(cudaEventElapsedTime(nullptr, a, b));
  int* flag;
  MUST(cudaHostAlloc(&flag, 4, cudaHostAllocMapped));
  *flag = 0;
  wait_for<<<1, 1>>>(flag);
  SHOW(cudaEventRecord(b, nullptr));
  SHOW(cudaEventQuery(b));
  SHOW(cudaPeekAtLastError());
  SHOW(cudaEventElapsedTime(&ms, a, b));
  SHOW(cudaPeekAtLastError());
  SHOW(cudaEventElapsedTime(&ms, b, a));
  SHOW(cudaEventDestroy(a));
  SHOW(cudaStreamQuery(nullptr));
  SHOW(cudaGetLastError());
  *static_cast<volatile int*>(flag) = 1;
  SHOW(cudaEventSynchronize(b));
  SHOW(cudaEventQuery(b));
  SHOW(cudaGetLastError());
}

void device_calls() {
  int v = 0;
  SHOW(cudaSetDevice(99));
  SHOW(cudaSetDevice(-1));
  SHOW(cudaGetDevice(nullptr));
  SHOW(cudaGetDeviceCount(nullptr));
  SHOW(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 99));
  SHOW(cudaDeviceGetAttribute(&v, static_cast<cudaDeviceAttr>(9999), 0));
  SHOW(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  cudaDeviceProp p;
  SHOW(cudaGetDeviceProperties(&p, 99));
  SHOW(cudaGetDeviceProperties(nullptr, 0));
  SHOW(cudaDeviceCanAccessPeer(&v, 0, 0));
  SHOW(cudaDeviceEnablePeerAccess(0, 0));
  SHOW(cudaDeviceDisablePeerAccess(0));
  SHOW(cudaChooseDevice(&v, nullptr));
  SHOW(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  SHOW(cudaSetDeviceFlags(0x1000));
  SHOW(cudaSetDeviceFlags(3));
  unsigned f = 9;
  SHOW(cudaGetDeviceFlags(&f));
  VALUE(f);
  SHOW(cudaDeviceGetByPCIBusId(&v, "not a bus"));
  SHOW(cudaDeviceGetPCIBusId(nullptr, 10, 0));
  SHOW(cudaInitDevice(0, 0, 0));
  SHOW(cudaInitDevice(99, 0, 0));
  SHOW(cudaGetLastError());
  CUdevice d;
  CUcontext c;
  CU(cuDeviceGet(&d, 99));
  CU(cuDeviceGet(nullptr, 0));
  CU(cuDeviceGetAttribute(&v, static_cast<CUdevice_attribute>(9999), 0));
  CU(cuDeviceGetName(nullptr, 10, 0));
  CU(cuDeviceTotalMem(nullptr, 0));
  CU(cuCtxGetCurrent(nullptr));
  CU(cuCtxPopCurrent(&c));
  CU(cuCtxPushCurrent(nullptr));
  CU(cuCtxSetCurrent(c));
  CU(cuCtxDestroy(nullptr));
  CU(cuCtxGetDevice(&d));
  CU(cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE));
  CU(cuDevicePrimaryCtxRetain(nullptr, 0));
  CU(cuDevicePrimaryCtxRetain(&c, 99));
  CU(cuDevicePrimaryCtxSetFlags(0, 0x1000));
  CU(cuInit(1));
}

int main() {
  MUST(cudaFree(nullptr));
  plain<<<1, 1>>>();
  MUST(cudaDeviceSynchronize());
  flags();
  null_handles();
  times();
  device_calls();
  return 0;
}
