// SPDX-License-Identifier: Apache-2.0
// flags: -rdc=true -lcudadevrt
// The runtime API inside kernels: errors of launches, memory, facts about the device and about functions.
#include <cstring>

#include "api.h"

__device__ void told(const char* text, cudaError_t code) {
  printf("%-90s %3d %s\n", text, static_cast<int>(code), cudaGetErrorName(code));
}
#define CALL(call) told(#call, call)
#define LOOK(what) printf("%-90s %lld\n", #what, static_cast<long long>(what))

__global__ void nothing() {}
__global__ void __launch_bounds__(64) bounded() {}
extern __shared__ int dynamic[];
__global__ void uses_shared(int* out) {
  dynamic[threadIdx.x] = 3;
  if (out) *out = dynamic[0];
}

__global__ void launches() {
  CALL(cudaGetLastError());
  nothing<<<0, 32>>>();
  CALL(cudaPeekAtLastError());
  CALL(cudaGetLastError());
  CALL(cudaGetLastError());
  nothing<<<1, 0>>>();
  CALL(cudaGetLastError());
  nothing<<<1, 1025>>>();
  CALL(cudaGetLastError());
  nothing<<<dim3(1, 65536), 1>>>();
  CALL(cudaGetLastError());
  nothing<<<1, dim3(1, 1, 65)>>>();
  CALL(cudaGetLastError());
  bounded<<<1, 65>>>();
  CALL(cudaGetLastError());
  uses_shared<<<1, 1, 64 << 10>>>(nullptr);
  CALL(cudaGetLastError());
  uses_shared<<<1, 1, 48 << 10>>>(nullptr);
  CALL(cudaGetLastError());
}

__global__ void streams() {
  cudaStream_t s = nullptr;
  cudaEvent_t e = nullptr;
  CALL(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  LOOK(s != nullptr);
  CALL(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  CALL(cudaEventRecord(e, s));
  CALL(cudaStreamWaitEvent(s, e, 0));
  CALL(cudaEventDestroy(e));
  CALL(cudaStreamDestroy(s));
  CALL(cudaGetLastError());
}

__global__ void memory(char* in, char* out) {
  char *a = nullptr, *b = nullptr;
  CALL(cudaMalloc(&a, 1000));
  LOOK(a != nullptr);
  CALL(cudaMalloc(&b, size_t{1} << 40));
  LOOK(b == nullptr);
  CALL(cudaGetLastError());
  for (int i = 0; i < 1000; ++i) a[i] = i;
  LOOK(a[999]);
  CALL(cudaFree(a));
  CALL(cudaFree(nullptr));
  // No value but 0: this release's device runtime sets zeros whatever is asked for.
  CALL(cudaMemsetAsync(in, 0, 64, 0));
  CALL(cudaMemset2DAsync(in + 64, 16, 0, 8, 4, 0));
  CALL(cudaMemcpyAsync(out, in, 128, cudaMemcpyDeviceToDevice, 0));
  CALL(cudaMemcpy2DAsync(out + 128, 32, in + 64, 16, 8, 4, cudaMemcpyDeviceToDevice, 0));
}

__global__ void facts() {
  int v = -1;
  size_t limit = 0;
  CALL(cudaGetDevice(&v));
  LOOK(v);
  CALL(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0));
  LOOK(v);
  CALL(cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0));
  LOOK(v);
  CALL(cudaDeviceGetAttribute(&v, cudaDevAttrMaxSharedMemoryPerBlock, 0));
  LOOK(v);
  CALL(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  LOOK(limit);
  CALL(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
  LOOK(limit);
  CALL(cudaRuntimeGetVersion(&v));
  cudaFuncAttributes a;
  CALL(cudaFuncGetAttributes(&a, bounded));
  LOOK(a.maxThreadsPerBlock);
  LOOK(a.sharedSizeBytes);
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, nothing, 256, 0));
  LOOK(v);
  printf("%s, %s\n", cudaGetErrorName(cudaErrorInvalidValue), cudaGetErrorString(cudaErrorInvalidValue));
  printf("%s\n", cudaGetErrorString(cudaErrorLaunchMaxDepthExceeded));
}

__global__ void deeper(int level, int* deepest, int* error) {
  atomicMax(deepest, level);
  if (level == 40) return;
  deeper<<<1, 1>>>(level + 1, deepest, error);
  const cudaError_t e = cudaGetLastError();
  if (e) *error = e;
}
__global__ void later(int level, int* deepest, int* error) {
  atomicMax(deepest, level);
  if (level == 40) return;
  later<<<1, 1, 0, cudaStreamTailLaunch>>>(level + 1, deepest, error);
  const cudaError_t e = cudaGetLastError();
  if (e) *error = e;
}

int main() {
  launches<<<1, 1>>>();
  SHOW(cudaDeviceSynchronize());
  streams<<<1, 1>>>();
  SHOW(cudaDeviceSynchronize());
  char *in, *out, host[256];
  MUST(cudaMalloc(&in, 256));
  MUST(cudaMalloc(&out, 256));
  MUST(cudaMemset(in, 1, 256));
  MUST(cudaMemset(out, 2, 256));
  memory<<<1, 1>>>(in, out);
  SHOW(cudaDeviceSynchronize());
  MUST(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i) std::printf("%d%s", host[i], i % 32 == 31 ? "\n" : " ");
  facts<<<1, 1>>>();
  SHOW(cudaDeviceSynchronize());
  int* seen;
  MUST(cudaMallocManaged(&seen, 2 * sizeof(int)));
  seen[0] = seen[1] = 0;
  deeper<<<1, 1>>>(0, seen, seen + 1);
  SHOW(cudaDeviceSynchronize());
  VALUE(seen[0]);
  VALUE(seen[1]);
  seen[0] = seen[1] = 0;
  later<<<1, 1>>>(0, seen, seen + 1);
  SHOW(cudaDeviceSynchronize());
  VALUE(seen[0]);
  VALUE(seen[1]);
  SHOW(cudaGetLastError());
  return 0;
}
