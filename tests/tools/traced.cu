// SPDX-License-Identifier: Apache-2.0
// What --trace and --stats are tested with: two streams, copies of each direction, sets, a graph with branches that is
// launched three times, a host function. With an argument: ends by `exit`, `abort`, a `fault` of a kernel, or `_exit`.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill_values(int* p, int n, int v) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) p[i] = v + i;
}
__global__ void add_shared(int* p, int n) {
  extern __shared__ int part[];
  __shared__ int fixed[16];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  part[threadIdx.x] = i < n ? p[i] : 0;
  if (threadIdx.x < 16) fixed[threadIdx.x] = 1;
  __syncthreads();
  if (i < n) p[i] = part[threadIdx.x] + fixed[threadIdx.x % 16];
}
__global__ void store_wild(int* p) { *p = 1; }

static void CUDART_CB called(void* n) { ++*static_cast<int*>(n); }

int main(int argc, char** argv) {
  constexpr int n = 1 << 14;
  constexpr size_t bytes = n * sizeof(int);
  int *a, *b, *pinned, calls = 0;
  int* host = new int[n]();
  cudaStream_t s[2];
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMallocHost(&pinned, bytes);
  for (auto& x : s) cudaStreamCreate(&x);
  cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
  cudaMemsetAsync(b, 0, bytes / 2, s[1]);
  fill_values<<<n / 256, 256, 0, s[0]>>>(a, n, 1);
  add_shared<<<dim3(n / 128), dim3(64, 2), 1024, s[1]>>>(b, n);
  cudaMemcpyAsync(pinned, a, bytes, cudaMemcpyDeviceToHost, s[0]);
  cudaStreamSynchronize(s[1]);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal);
  cudaMemsetAsync(a, 0, bytes, s[0]);
  cudaEventRecord(fork, s[0]);
  cudaStreamWaitEvent(s[1], fork, 0);
  fill_values<<<n / 256, 256, 0, s[0]>>>(a, n, 7);
  fill_values<<<n / 256, 256, 0, s[1]>>>(b, n, 8);
  cudaEventRecord(join, s[1]);
  cudaStreamWaitEvent(s[0], join, 0);
  cudaMemcpyAsync(b, a, bytes / 4, cudaMemcpyDeviceToDevice, s[0]);
  cudaLaunchHostFunc(s[0], called, &calls);
  cudaStreamEndCapture(s[0], &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, s[0]);
  cudaStreamSynchronize(s[0]);
  cudaFree(reinterpret_cast<void*>(1));  // an error, on purpose
  std::printf("%d %d\n", calls, pinned[5]);
  std::fflush(stdout);
  const char* how = argc > 1 ? argv[1] : "";
  if (!std::strcmp(how, "exit")) std::exit(3);
  if (!std::strcmp(how, "abort")) std::abort();
  if (!std::strcmp(how, "_exit")) ::_exit(4);
  if (!std::strcmp(how, "fault")) {
    store_wild<<<1, 1>>>(reinterpret_cast<int*>(64));
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 5 : 6;
  }
  return 0;
}
