// SPDX-License-Identifier: Apache-2.0
// Order within and between streams, queries, events, host functions, callbacks, priorities.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "api.h"

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {}
}
__global__ void times_plus(int* p, int factor, int plus) { *p = *p * factor + plus; }

struct Gate {  // a kernel in a stream that ends when it is opened
  int* flag = nullptr;
  Gate() { MUST(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped)); *flag = 0; }
  ~Gate() { cudaFreeHost(flag); }
  void close(cudaStream_t s) {
    cudaGetLastError();
    wait_for<<<1, 1, 0, s>>>(flag);
    MUST(cudaGetLastError());
  }
  void open() { *static_cast<volatile int*>(flag) = 1; }
};

std::string log_text;
void CUDART_CB note(void* letter) { log_text += static_cast<char>(reinterpret_cast<size_t>(letter)); }
void CUDART_CB called(cudaStream_t, cudaError_t status, void* letter) {
  log_text += static_cast<char>(reinterpret_cast<size_t>(letter));
  if (status != cudaSuccess) log_text += '!';
}
void* letter(char c) { return reinterpret_cast<void*>(static_cast<size_t>(c)); }

int main() {
  int* d = nullptr;
  int result = 0;
  MUST(cudaMalloc(&d, sizeof(int)));
  {  // code is loaded before anything waits: loading may synchronise
    Gate gate;
    gate.open();
    gate.close(nullptr);
    times_plus<<<1, 1>>>(d, 0, 0);
    MUST(cudaDeviceSynchronize());
  }
  cudaStream_t a, b, free_one;
  SHOW(cudaStreamCreate(&a));
  SHOW(cudaStreamCreate(&b));
  SHOW(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
  SHOW(cudaStreamCreateWithFlags(&b, 2));
  SHOW(cudaGetLastError());

  {  // one stream keeps its order
    Gate gate;
    MUST(cudaMemsetAsync(d, 0, sizeof(int), a));
    gate.close(a);
    for (int i = 1; i <= 5; ++i) times_plus<<<1, 1, 0, a>>>(d, 10, i);
    SHOW(cudaStreamQuery(a));
    SHOW(cudaPeekAtLastError());
    cudaGetLastError();
    SHOW(cudaStreamQuery(free_one));
    gate.open();
    SHOW(cudaStreamSynchronize(a));
    SHOW(cudaStreamQuery(a));
    MUST(cudaMemcpy(&result, d, sizeof(int), cudaMemcpyDeviceToHost));
    VALUE(result);
  }
  {  // the legacy stream waits for blocking streams, and they for it; a non-blocking one passes
    Gate gate;
    gate.close(a);
    times_plus<<<1, 1>>>(d, 1, 1);
    times_plus<<<1, 1, 0, b>>>(d, 1, 1);
    SHOW(cudaLaunchHostFunc(free_one, note, letter('f')));
    SHOW(cudaStreamSynchronize(free_one));
    std::printf("log %s\n", log_text.c_str());
    SHOW(cudaStreamQuery(nullptr));
    SHOW(cudaStreamQuery(b));
    gate.open();
    SHOW(cudaStreamSynchronize(b));
    SHOW(cudaStreamQuery(nullptr));
  }
  {  // events order streams
    Gate gate;
    cudaEvent_t e;
    log_text.clear();
    MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    SHOW(cudaEventQuery(e));
    SHOW(cudaEventSynchronize(e));
    gate.close(a);
    MUST(cudaLaunchHostFunc(a, note, letter('1')));
    SHOW(cudaEventRecord(e, a));
    SHOW(cudaStreamWaitEvent(free_one, e, 0));
    MUST(cudaLaunchHostFunc(free_one, note, letter('2')));
    SHOW(cudaStreamAddCallback(free_one, called, letter('3'), 0));
    SHOW(cudaEventQuery(e));
    SHOW(cudaStreamQuery(free_one));
    cudaGetLastError();
    gate.open();
    SHOW(cudaEventSynchronize(e));
    SHOW(cudaStreamSynchronize(free_one));
    std::printf("log %s\n", log_text.c_str());
    SHOW(cudaEventDestroy(e));
  }
  {  // times
    cudaEvent_t start, end, untimed;
    float ms = -1;
    MUST(cudaEventCreate(&start));
    MUST(cudaEventCreate(&end));
    MUST(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    SHOW(cudaEventElapsedTime(&ms, start, end));
    MUST(cudaEventRecord(start, a));
    MUST(cudaEventRecord(untimed, a));
    Gate gate;
    gate.close(a);
    MUST(cudaEventRecord(end, a));
    SHOW(cudaEventElapsedTime(&ms, start, end));
    gate.open();
    MUST(cudaStreamSynchronize(a));
    SHOW(cudaEventElapsedTime(&ms, start, end));
    VALUE(ms > 0 && ms < 10000);
    SHOW(cudaEventElapsedTime(&ms, end, start));
    VALUE(ms < 0);
    SHOW(cudaEventElapsedTime(&ms, start, untimed));
    SHOW(cudaEventElapsedTime(nullptr, start, end));
    SHOW(cudaEventCreateWithFlags(&end, 64));
    SHOW(cudaGetLastError());
  }
  {  // properties of streams
    int least = 9, greatest = 9, priority = 9;
    unsigned flags = 9;
    cudaStream_t p;
    SHOW(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    VALUE(least);
    VALUE(greatest);
    SHOW(cudaStreamCreateWithPriority(&p, cudaStreamNonBlocking, -3));
    SHOW(cudaStreamGetPriority(p, &priority));
    VALUE(priority);
    SHOW(cudaStreamGetFlags(p, &flags));
    VALUE(flags);
    SHOW(cudaStreamDestroy(p));
    SHOW(cudaStreamCreateWithPriority(&p, 0, -100));
    SHOW(cudaStreamGetPriority(p, &priority));
    VALUE(priority);
    SHOW(cudaStreamGetFlags(nullptr, &flags));
    VALUE(flags);
    SHOW(cudaStreamGetPriority(nullptr, &priority));
    VALUE(priority);
    SHOW(cudaStreamDestroy(nullptr));
    SHOW(cudaStreamDestroy(cudaStreamPerThread));
    SHOW(cudaGetLastError());
  }
  {  // pageable sources may be changed at once; a stream may be destroyed while it works
    Gate gate;
    int value = 5;
    gate.close(a);
    MUST(cudaMemcpyAsync(d, &value, sizeof(int), cudaMemcpyHostToDevice, a));
    value = 6;
    times_plus<<<1, 1, 0, a>>>(d, 2, 1);
    SHOW(cudaStreamDestroy(a));
    gate.open();
    MUST(cudaMemcpy(&result, d, sizeof(int), cudaMemcpyDeviceToHost));
    VALUE(result);
  }
  {  // many threads, each with its own stream
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        cudaStream_t s;
        int *mine, got = 0;
        MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        MUST(cudaMalloc(&mine, sizeof(int)));
        MUST(cudaMemsetAsync(mine, 0, sizeof(int), s));
        for (int i = 0; i < 200; ++i) times_plus<<<1, 1, 0, s>>>(mine, 1, t);
        MUST(cudaMemcpyAsync(&got, mine, sizeof(int), cudaMemcpyDeviceToHost, s));
        MUST(cudaStreamSynchronize(s));
        right += got == 200 * t;
        MUST(cudaFree(mine));
        MUST(cudaStreamDestroy(s));
      });
    for (auto& t : threads) t.join();
    VALUE(right.load());
  }
  return 0;
}
