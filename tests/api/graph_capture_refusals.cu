// SPDX-License-Identifier: Apache-2.0
// One call each while a stream captures, in the three modes: its code, its effect on the capture, how the capture ends.
#include <thread>

#include "api.h"

__global__ void add(int* p, int n) { atomicAdd(p, n); }
__device__ int variable;

namespace {
cudaStream_t other, free_one;
cudaEvent_t before, inside;
int *d, *pinned, *managed;
int pageable[64];
cudaGraphExec_t exec;
cudaGraph_t outside;
cudaStreamCaptureMode mode;
bool alone;  // the stream that captures is a non-blocking one
void CUDART_CB host(void*) {}
void CUDART_CB callback(cudaStream_t, cudaError_t, void*) {}

cudaError_t launch(cudaStream_t s, int threads = 1) {
  add<<<1, threads, 0, s>>>(d, 1);
  return cudaGetLastError();
}
cudaError_t cooperative(cudaStream_t s) {
  int n = 1;
  void* args[] = {&d, &n};
  return cudaLaunchCooperativeKernel(add, dim3(1), dim3(1), args, 0, s);
}
template <class F>
cudaError_t elsewhere(F f) {
  cudaError_t e = cudaSuccess;
  std::thread([&] { e = f(); }).join();
  return e;
}
struct both {  // in this order: use with braces
  cudaError_t code;
  both(cudaError_t a, cudaError_t b) : code(a != cudaSuccess ? a : b) {}
  operator cudaError_t() const { return code; }
};
cudaError_t fork(cudaStream_t from, cudaStream_t to) {
  return both{cudaEventRecord(inside, from), cudaStreamWaitEvent(to, inside, 0)};
}
cudaError_t relaxed_malloc() {
  cudaStreamCaptureMode m = cudaStreamCaptureModeRelaxed;
  void* p = nullptr;
  cudaError_t e = cudaThreadExchangeStreamCaptureMode(&m);
  e = both{e, cudaMalloc(&p, 256)};
  std::printf("  [mode before %d] ", m);
  cudaFree(p);
  cudaThreadExchangeStreamCaptureMode(&m);
  return e;
}
template <class T, class F>
cudaError_t made(F f) {
  T t{};
  return f(&t);
}

template <class F>
void run(const char* text, F action) {
  cudaStream_t s;
  MUST(cudaStreamCreateWithFlags(&s, alone ? cudaStreamNonBlocking : cudaStreamDefault));
  cudaEventCreate(&inside);
  cudaGetLastError();
  MUST(cudaStreamBeginCapture(s, mode));
  const cudaError_t code = action(s);
  const cudaError_t last = cudaGetLastError();
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone, beside = cudaStreamCaptureStatusNone;
  const cudaError_t asked = cudaStreamIsCapturing(s, &status);
  cudaStreamIsCapturing(other, &beside);
  cudaGraph_t g = nullptr;
  const cudaError_t end = cudaStreamEndCapture(s, &g);
  size_t nodes = 0, edges = 0;
  if (g) cudaGraphGetNodes(g, nullptr, &nodes), cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &edges);
  cudaStreamCaptureStatus after = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(other, &after);
  std::printf("%-72s %3d last %3d | %d status %d %d | end %3d graph %d nodes %zu edges %zu after %d\n", text, code, last, asked,
              status, beside, end, g != nullptr, nodes, edges, after);
  cudaGetLastError();
  if (after != cudaStreamCaptureStatusNone) {
    cudaGraph_t h = nullptr;
    std::printf("  end of the other: %d\n", cudaStreamEndCapture(other, &h));
  }
  if (g) cudaGraphDestroy(g);
  cudaEventDestroy(inside);
  cudaStreamDestroy(s);
  cudaGetLastError();
}
#define C(...) run(#__VA_ARGS__, [&](cudaStream_t s) -> cudaError_t { (void)s; return __VA_ARGS__; })

void work() {
  C(launch(s));
  C(launch(nullptr));
  C(launch(cudaStreamLegacy));
  C(launch(cudaStreamPerThread));
  C(launch(other));
  C(launch(free_one));
  C(launch(s, 2048));
  C(cooperative(s));
  C(cooperative(nullptr));
  C(cudaMemcpy(d, d + 4, 4, cudaMemcpyDeviceToDevice));
  C(cudaMemcpy(d, pageable, 4, cudaMemcpyHostToDevice));
  C(cudaMemcpy(pageable, d, 4, cudaMemcpyDeviceToHost));
  C(cudaMemcpy(pageable, pageable + 4, 4, cudaMemcpyHostToHost));
  C(cudaMemcpyAsync(d, d + 4, 4, cudaMemcpyDeviceToDevice, s));
  C(cudaMemcpyAsync(d, pinned, 4, cudaMemcpyHostToDevice, s));
  C(cudaMemcpyAsync(d, pageable, 4, cudaMemcpyHostToDevice, s));
  C(cudaMemcpyAsync(pageable, d, 4, cudaMemcpyDeviceToHost, s));
  C(cudaMemcpyAsync(pageable, pageable + 4, 4, cudaMemcpyHostToHost, s));
  C(cudaMemcpyAsync(d, d + 4, 4, cudaMemcpyDeviceToDevice, nullptr));
  C(cudaMemcpyAsync(d, d + 4, 4, cudaMemcpyDeviceToDevice, other));
  C(cudaMemcpyAsync(nullptr, d, 4, cudaMemcpyDeviceToDevice, s));
  C(cudaMemcpyAsync(d, d + 4, 0, cudaMemcpyDeviceToDevice, s));
  C(cudaMemcpy2DAsync(d, 64, d + 64, 64, 16, 2, cudaMemcpyDeviceToDevice, s));
  C(cudaMemcpy2D(d, 64, d + 64, 64, 16, 2, cudaMemcpyDeviceToDevice));
  C(cudaMemset(d, 0, 4));
  C(cudaMemsetAsync(d, 0, 4, s));
  C(cudaMemsetAsync(d, 0, 0, s));
  C(cudaMemsetAsync(d, 0, 4, nullptr));
  C(cudaMemset2DAsync(d, 64, 0, 16, 2, s));
  C(cudaMemcpyToSymbol(variable, pageable, 4));
  C(cudaMemcpyToSymbolAsync(variable, pageable, 4, 0, cudaMemcpyHostToDevice, s));
  C(cudaMemcpyFromSymbolAsync(pinned, variable, 4, 0, cudaMemcpyDeviceToHost, s));
  C(cudaMemcpyPeerAsync(d, 0, d + 4, 0, 4, s));
  C(cudaMemPrefetchAsync(managed, 256, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, s));
  C(cudaStreamAttachMemAsync(s, managed));
  C(cudaLaunchHostFunc(s, host, nullptr));
  C(cudaLaunchHostFunc(nullptr, host, nullptr));
  C(cudaStreamAddCallback(s, callback, nullptr, 0));
  C(cudaGraphLaunch(exec, s));
  C(cudaGraphLaunch(exec, nullptr));
  C(cudaGraphLaunch(exec, other));
  C(cudaGraphUpload(exec, s));
  C(made<cudaGraphExec_t>([&](auto p) { return cudaGraphInstantiate(p, outside, 0); }));
}

void memory() {
  C(made<void*>([&](auto p) { return cudaMalloc(p, 256); }));
  C(made<void*>([&](auto p) { return cudaMallocHost(p, 256); }));
  C(made<void*>([&](auto p) { return cudaHostAlloc(p, 256, 0); }));
  C(made<void*>([&](auto p) { return cudaMallocManaged(p, 256); }));
  C(made<void*>([&](auto p) { return cudaMallocAsync(p, 256, other); }));
  C(made<void*>([&](auto p) { return cudaMallocAsync(p, 256, nullptr); }));
  C(made<void*>([&](auto p) { return both{cudaMallocAsync(p, 256, s), cudaFreeAsync(*p, s)}; }));
  C(made<void*>([&](auto p) { return cudaMallocAsync(p, 256, s); }));
  C(made<size_t>([&](auto p) { size_t a; return cudaMemGetInfo(p, &a); }));
  C(cudaFree(nullptr));
  C(cudaFreeAsync(nullptr, s));
  C(cudaFreeHost(nullptr));
  C(cudaFreeAsync(d, nullptr));
  C(cudaFreeAsync(pageable, s));
  C(cudaHostRegister(pageable, sizeof pageable, 0));
  C(cudaHostUnregister(pageable));
  C(made<cudaPointerAttributes>([&](auto p) { return cudaPointerGetAttributes(p, d); }));
  C(made<void*>([&](auto p) { return cudaGetSymbolAddress(p, variable); }));
  C(cudaDeviceGraphMemTrim(0));
  C(made<cudaFuncAttributes>([&](auto p) { return cudaFuncGetAttributes(p, add); }));
  C(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
  C(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20));
  C(cudaSetDevice(0));
  C(cudaMemAdvise(managed, 256, cudaMemAdviseSetReadMostly, cudaMemLocation{cudaMemLocationTypeDevice, 0}));
}

void order() {
  C(cudaStreamSynchronize(s));
  C(cudaStreamSynchronize(nullptr));
  C(cudaStreamSynchronize(other));
  C(cudaStreamSynchronize(free_one));
  C(cudaStreamQuery(s));
  C(cudaStreamQuery(nullptr));
  C(cudaStreamQuery(other));
  C(cudaStreamQuery(free_one));
  C(cudaDeviceSynchronize());
  C(cudaEventRecord(inside, s));
  C(cudaEventRecord(before, s));
  C(cudaEventRecord(before, nullptr));
  C(cudaEventRecord(before, other));
  C(both{cudaEventRecord(inside, s), cudaEventQuery(inside)});
  C(both{cudaEventRecord(inside, s), cudaEventSynchronize(inside)});
  C(both{cudaEventRecord(inside, s), made<float>([&](auto p) { return cudaEventElapsedTime(p, inside, before); })});
  C(both{cudaEventRecord(inside, s), both{cudaEventRecord(inside, other), cudaEventSynchronize(inside)}});
  C(cudaEventRecordWithFlags(inside, s, cudaEventRecordExternal));
  C(cudaEventRecordWithFlags(inside, other, cudaEventRecordExternal));
  C(cudaStreamWaitEvent(s, before, cudaEventWaitExternal));
  C(cudaStreamWaitEvent(other, before, cudaEventWaitExternal));
  C(cudaEventQuery(before));
  C(cudaEventSynchronize(before));
  C(both{cudaEventRecord(before, other), cudaStreamWaitEvent(s, before, 0)});
  C(cudaStreamWaitEvent(s, inside, 0));
  C(both{cudaEventRecord(inside, s), cudaStreamWaitEvent(nullptr, inside, 0)});
  C(both{cudaEventRecord(inside, s), cudaStreamWaitEvent(s, inside, 0)});
  C(fork(s, other));
  C(both{fork(s, other), launch(other)});
  C(both{fork(s, free_one), launch(free_one)});
  C(both{fork(s, other), fork(other, s)});
  C(both{both{fork(s, other), launch(other)}, fork(other, s)});
  C(both{both{both{fork(s, other), launch(other)}, fork(other, s)}, launch(s)});
  C(both{both{both{both{launch(s), fork(s, other)}, both{launch(other), launch(s)}}, fork(other, s)}, launch(s)});
  C(both{fork(s, other), cudaStreamSynchronize(other)});
  C(both{fork(s, other), cudaStreamBeginCapture(other, mode)});
  C(both{fork(s, other), made<cudaGraph_t>([&](auto p) { return cudaStreamEndCapture(other, p); })});
  C(made<cudaGraph_t>([&](auto p) { return cudaStreamEndCapture(other, p); }));
  C(cudaStreamEndCapture(s, nullptr));
  C(cudaStreamBeginCapture(s, mode));
  C(cudaStreamBeginCapture(nullptr, mode));
  C(cudaStreamBeginCapture(other, static_cast<cudaStreamCaptureMode>(7)));
  C(made<cudaStreamCaptureStatus>([&](auto p) { return cudaStreamIsCapturing(nullptr, p); }));
  C(made<cudaStream_t>([&](auto p) { return both{cudaStreamCreate(p), cudaStreamDestroy(*p)}; }));
  C(made<cudaEvent_t>([&](auto p) { return both{cudaEventCreate(p), cudaEventDestroy(*p)}; }));
  C(made<int>([&](auto p) { return cudaStreamGetPriority(s, p); }));
  C(both{cudaStreamBeginCapture(other, mode), fork(s, other)});
  C(both{both{cudaStreamBeginCapture(other, mode), fork(other, s)}, launch(s)});
  C(both{launch(nullptr), launch(nullptr)});
  C(both{cudaDeviceSynchronize(), cudaDeviceSynchronize()});
  C(both{cudaDeviceSynchronize(), made<void*>([&](auto p) { return cudaMalloc(p, 256); })});
  C((cudaDeviceSynchronize(), made<void*>([&](auto p) { return cudaMalloc(p, 256); })));
  C((launch(nullptr), launch(nullptr)));
  C((launch(nullptr), launch(s)));
  C((launch(nullptr), cudaMemcpyAsync(d, pinned, 4, cudaMemcpyHostToDevice, s)));
  C((launch(nullptr), cudaEventRecord(inside, s)));
  C((launch(nullptr), cudaStreamWaitEvent(s, before, 0)));
  C((launch(nullptr), cudaStreamSynchronize(s)));
  C((cudaEventRecord(inside, s), launch(nullptr), cudaStreamWaitEvent(other, inside, 0)));
  C((cudaEventRecord(inside, s), launch(nullptr), cudaEventQuery(inside)));
  C((fork(s, other), launch(nullptr), launch(other)));
  C((launch(s), fork(s, other)));
  C((launch(s), fork(s, other), launch(s)));
  C((launch(s), fork(s, other), launch(other)));
  C((launch(s), fork(s, free_one), launch(free_one), fork(free_one, s)));
  C((launch(s), fork(s, free_one), launch(nullptr)));
  C((launch(s), fork(s, other), cudaStreamQuery(other)));
  C((launch(s), fork(s, other), cudaStreamWaitEvent(s, before, 0)));
  C((launch(s), fork(s, other), cudaEventQuery(before)));
  C((launch(s), fork(s, other), launch(other), fork(other, s), launch(other)));
  C((launch(s), fork(s, other), launch(other), fork(other, s), launch(s), fork(s, other), launch(other), fork(other, s)));
  C((launch(s), fork(s, other), cudaStreamBeginCapture(other, mode)));
  C((launch(s), fork(s, other), made<cudaGraph_t>([&](auto p) { return cudaStreamEndCapture(other, p); })));
  C((cudaStreamBeginCapture(other, mode), launch(other), fork(other, s)));
  C((cudaStreamBeginCapture(other, mode), launch(other), launch(s), fork(other, s)));
  C((cudaStreamBeginCapture(other, mode), launch(s), fork(s, other)));
  C((launch(s), cudaEventRecord(inside, s), cudaEventQuery(inside)));
  C((launch(s), cudaEventRecord(inside, s), cudaEventRecord(inside, free_one)));
  C((launch(s), cudaEventRecord(inside, s), cudaEventDestroy(inside)));
  C((launch(s), cudaEventRecord(inside, s), made<float>([&](auto p) { return cudaEventElapsedTime(p, before, inside); })));
  C((launch(s), fork(s, other), made<cudaStreamCaptureStatus>([&](auto p) { return cudaStreamIsCapturing(nullptr, p); })));
  C(relaxed_malloc());
  C(elsewhere([&] { return made<void*>([&](auto p) { return cudaMalloc(p, 256); }); }));
  C(elsewhere([&] { return cudaDeviceSynchronize(); }));
  C(elsewhere([&] { return launch(s); }));
  C(elsewhere([&] { return launch(nullptr); }));
  C(elsewhere([&] { return cudaMemcpy(d, pageable, 4, cudaMemcpyHostToDevice); }));
  C(elsewhere([&] { return cudaStreamSynchronize(s); }));
  C(elsewhere([&] { return cudaStreamSynchronize(other); }));
  C(elsewhere([&] { return cudaEventQuery(before); }));
  C(elsewhere([&] { return made<cudaGraph_t>([&](auto p) { return cudaStreamEndCapture(s, p); }); }));
}
}  // namespace

int main() {
  MUST(cudaMalloc(&d, 1 << 16));
  MUST(cudaMallocHost(&pinned, 256));
  MUST(cudaMallocManaged(&managed, 256));
  MUST(cudaStreamCreate(&other));
  MUST(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
  MUST(cudaEventCreate(&before));
  MUST(cudaEventRecord(before, other));
  MUST(launch(nullptr));
  MUST(cooperative(nullptr));
  MUST(cudaMemcpyToSymbol(variable, pageable, 4));
  MUST(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed));
  MUST(launch(other));
  MUST(cudaStreamEndCapture(other, &outside));
  MUST(cudaGraphInstantiate(&exec, outside, 0));
  MUST(cudaDeviceSynchronize());
  SHOW(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  SHOW(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeRelaxed));
  cudaGraph_t none = outside;
  SHOW(cudaStreamEndCapture(other, &none));
  std::printf("%d\n", none == nullptr);
  SHOW(cudaGetLastError());
  for (int m = 0; m < 4; ++m) {
    alone = m == 3;
    mode = static_cast<cudaStreamCaptureMode>(m % 3);
    std::printf("--- mode %d%s\n", mode, alone ? ", non-blocking" : "");
    work();
    memory();
    order();
  }
  SHOW(cudaDeviceSynchronize());
}
