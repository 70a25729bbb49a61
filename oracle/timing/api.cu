// SPDX-License-Identifier: Apache-2.0
// What calls cost the host, and what events measure: medians. Prints a line for each: name, size, nanoseconds of the
// host for the call, nanoseconds of the host until the device is done, nanoseconds between events around it. See
// README.md.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(x)                                                                                            \
  do {                                                                                                      \
    cudaError_t status = (x);                                                                               \
    if (status != cudaSuccess) fprintf(stderr, "%s:%d: %s\n", #x, __LINE__, cudaGetErrorString(status)), std::exit(1); \
  } while (0)

__global__ void empty() {}
__global__ void busy(long long cycles) {
  long long start = clock64();
  while (clock64() - start < cycles) {}
}

static double now() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}
static cudaEvent_t before, after, other;
static cudaStream_t stream;

static void tell(const char* name, size_t size, const std::function<void()>& call, int times = 21) {
  std::vector<double> host, whole, events;
  for (int i = -2; i < times; i++) {
    CHECK(cudaDeviceSynchronize());
    double a = now();
    call();
    double b = now();
    CHECK(cudaDeviceSynchronize());
    double c = now();
    CHECK(cudaEventRecord(before, stream));
    call();
    CHECK(cudaEventRecord(after, stream));
    CHECK(cudaDeviceSynchronize());
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, before, after));
    if (i >= 0) host.push_back(b - a), whole.push_back(c - a), events.push_back(ms * 1e6);
  }
  printf("%s %zu %.0f %.0f %.0f\n", name, size, median(host), median(whole), median(events));
}

int main() {
  CHECK(cudaFree(nullptr));
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventCreate(&after));
  CHECK(cudaEventCreate(&other));
  const size_t room = size_t(256) << 20;
  char *a, *b, *pinned;
  CHECK(cudaMalloc(&a, room));
  CHECK(cudaMalloc(&b, room));
  CHECK(cudaMallocHost(&pinned, room));
  std::vector<char> pageable(room, 1);
  tell("nothing", 0, [] {});
  tell("event_record", 0, [] { CHECK(cudaEventRecord(other, stream)); });
  tell("device_synchronize", 0, [] { CHECK(cudaDeviceSynchronize()); });
  tell("stream_synchronize", 0, [] { CHECK(cudaStreamSynchronize(stream)); });
  tell("event_synchronize", 0, [] { CHECK(cudaEventSynchronize(other)); });
  tell("stream_query", 0, [] { static_cast<void>(cudaStreamQuery(stream)); });
  for (int n : {1, 2, 10, 100, 1000})
    tell("launches", n, [n] { for (int i = 0; i < n; i++) empty<<<1, 32>>>(); });
  for (long long cycles : {2000, 20000, 200000, 2000000})
    tell("busy", cycles, [=] { busy<<<1, 32>>>(cycles); });
  for (int n : {2, 10, 100})
    tell("busy_20000", n, [n] { for (int i = 0; i < n; i++) busy<<<1, 32>>>(20000); });
  for (int n : {1, 10, 100})
    tell("launch_wait", n, [n] { for (int i = 0; i < n; i++) { empty<<<1, 32>>>(); CHECK(cudaDeviceSynchronize()); } });
  for (size_t bytes : {4ul, 4096ul, 32768ul, 65536ul, 262144ul, 1ul << 20, 4ul << 20, 16ul << 20, 64ul << 20, 256ul << 20}) {
    int times = bytes > (16 << 20) ? 5 : 21;
    tell("to_device_pageable", bytes, [&] { CHECK(cudaMemcpy(a, pageable.data(), bytes, cudaMemcpyHostToDevice)); }, times);
    tell("to_device_pinned", bytes, [&] { CHECK(cudaMemcpy(a, pinned, bytes, cudaMemcpyHostToDevice)); }, times);
    tell("to_device_pinned_async", bytes, [&] { CHECK(cudaMemcpyAsync(a, pinned, bytes, cudaMemcpyHostToDevice, stream)); }, times);
    tell("to_host_pageable", bytes, [&] { CHECK(cudaMemcpy(pageable.data(), a, bytes, cudaMemcpyDeviceToHost)); }, times);
    tell("to_host_pinned", bytes, [&] { CHECK(cudaMemcpy(pinned, a, bytes, cudaMemcpyDeviceToHost)); }, times);
    tell("to_host_pinned_async", bytes, [&] { CHECK(cudaMemcpyAsync(pinned, a, bytes, cudaMemcpyDeviceToHost, stream)); }, times);
    tell("on_device", bytes, [&] { CHECK(cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice)); }, times);
    tell("on_device_async", bytes, [&] { CHECK(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, stream)); }, times);
    tell("memset", bytes, [&] { CHECK(cudaMemset(b, 0, bytes)); }, times);
    tell("memset_async", bytes, [&] { CHECK(cudaMemsetAsync(b, 0, bytes, stream)); }, times);
    void* p;
    tell("malloc_free", bytes, [&] { CHECK(cudaMalloc(&p, bytes)); CHECK(cudaFree(p)); }, times);
    tell("malloc_async_free_async", bytes, [&] { CHECK(cudaMallocAsync(&p, bytes, stream)); CHECK(cudaFreeAsync(p, stream)); }, times);
  }
  for (int nodes : {1, 2, 10, 100, 1000}) {
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    cudaGraph_t g;
    cudaGraphExec_t x;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; i++) empty<<<1, 32, 0, s>>>();
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&x, g, 0));
    tell("graph_launch", nodes, [&] { CHECK(cudaGraphLaunch(x, stream)); });
    CHECK(cudaGraphExecDestroy(x));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaStreamDestroy(s));
  }
  for (int streams : {2, 4, 8}) {
    std::vector<cudaStream_t> s(streams);
    for (auto& one : s) CHECK(cudaStreamCreate(&one));
    tell("streams_busy_20000", streams, [&] { for (auto one : s) busy<<<1, 32, 0, one>>>(20000); });
    for (auto one : s) CHECK(cudaStreamDestroy(one));
  }
  cudaStream_t s;
  tell("stream_create_destroy", 0, [&] { CHECK(cudaStreamCreate(&s)); CHECK(cudaStreamDestroy(s)); });
  cudaEvent_t e;
  tell("event_create_destroy", 0, [&] { CHECK(cudaEventCreate(&e)); CHECK(cudaEventDestroy(e)); });
  tell("host_function", 0, [] { CHECK(cudaLaunchHostFunc(stream, [](void*) {}, nullptr)); });
  return 0;
}
