// SPDX-License-Identifier: Apache-2.0
// What calls take of the host, and copies and sets of the device: `host ...` lines are of the host's clock, the mean
// of many calls in a row (less than a queue holds), the least of some rounds; `copy ...`, `set ...`, `between ...`
// lines by events.
#include <chrono>

#include "effects.h"

__global__ void nothing() {}
__global__ void eight(void*, void*, void*, void*, int, int, int, int) {}

double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The host's time for each of `calls` calls; the device is idle before and waited for behind.
template <class F>
void host(const std::string& name, int calls, F&& f) {
  double least = 1e30;
  for (int k = 0; k < 20; ++k) {
    MUST(cudaDeviceSynchronize());
    const double begin = now();
    for (int c = 0; c < calls; ++c) f();
    least = std::min(least, (now() - begin) / calls);
    MUST(cudaDeviceSynchronize());
  }
  tell("host_" + name, least);
}

std::string size(size_t bytes) { return bytes >= 1 << 20 ? std::to_string(bytes >> 20) + "MiB" : std::to_string(bytes >> 10) + "KiB"; }

int main(int argc, char** argv) {
  arguments(argc, argv);
  cudaStream_t s, t;
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)), MUST(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  constexpr size_t kMost = 256 << 20;
  char *device, *other, *pinned, *pageable = static_cast<char*>(std::calloc(kMost, 1));
  MUST(cudaMalloc(&device, kMost)), MUST(cudaMalloc(&other, kMost)), MUST(cudaMallocHost(&pinned, kMost));
  for (size_t i = 0; i < kMost; i += 4096) pageable[i] = pinned[i] = 1;
  cudaEvent_t e, timed;
  MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming)), MUST(cudaEventCreate(&timed));
  nothing<<<1, 32, 0, s>>>();

  host("launch", 200, [&] { nothing<<<1, 32, 0, s>>>(); });
  host("launch_eight_arguments", 200, [&] { eight<<<1, 32, 0, s>>>(0, 0, 0, 0, 1, 2, 3, 4); });
  host("launch_two_streams", 100, [&] { nothing<<<1, 32, 0, s>>>(), nothing<<<1, 32, 0, t>>>(); });
  host("record", 200, [&] { cudaEventRecord(timed, s); });
  host("record_no_timing", 200, [&] { cudaEventRecord(e, s); });
  MUST(cudaEventRecord(e, s));
  host("wait_event", 200, [&] { cudaStreamWaitEvent(t, e); });
  host("query_event", 200, [&] { cudaEventQuery(e); });
  host("query_stream", 200, [&] { cudaStreamQuery(s); });
  host("synchronize_stream_idle", 100, [&] { cudaStreamSynchronize(s); });
  host("synchronize_event_idle", 100, [&] { cudaEventSynchronize(e); });
  host("synchronize_device_idle", 100, [&] { cudaDeviceSynchronize(); });
  host("copy_in_4KiB", 100, [&] { cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, s); });
  host("copy_out_4KiB", 100, [&] { cudaMemcpyAsync(pinned, device, 4096, cudaMemcpyDeviceToHost, s); });
  host("copy_within_4KiB", 100, [&] { cudaMemcpyAsync(device, other, 4096, cudaMemcpyDeviceToDevice, s); });
  host("copy_in_waiting_4B", 1, [&] { cudaMemcpy(device, pageable, 4, cudaMemcpyHostToDevice); });
  host("copy_out_waiting_4B", 1, [&] { cudaMemcpy(pageable, device, 4, cudaMemcpyDeviceToHost); });
  host("set_4KiB", 100, [&] { cudaMemsetAsync(device, 0, 4096, s); });
  host("last_error", 200, [&] { cudaGetLastError(); });
  host("get_device", 200, [&] { int d; cudaGetDevice(&d); });
  host("set_device", 200, [&] { cudaSetDevice(0); });
  host("event_create_and_destroy", 100, [&] { cudaEvent_t x; cudaEventCreate(&x), cudaEventDestroy(x); });
  host("stream_create_and_destroy", 10, [&] { cudaStream_t x; cudaStreamCreate(&x), cudaStreamDestroy(x); });
  host("malloc_and_free_1MiB", 10, [&] { void* p; cudaMalloc(&p, 1 << 20), cudaFree(p); });
  host("malloc_and_free_64MiB", 10, [&] { void* p; cudaMalloc(&p, 64 << 20), cudaFree(p); });
  host("malloc_and_free_pool_1MiB", 50, [&] { void* p; cudaMallocAsync(&p, 1 << 20, s), cudaFreeAsync(p, s); });
  host("host_function", 50, [&] { cudaLaunchHostFunc(s, [](void*) {}, nullptr); });
  host("launch_and_synchronize", 1, [&] { nothing<<<1, 32, 0, s>>>(), cudaStreamSynchronize(s); });
  host("launch_and_synchronize_device", 1, [&] { nothing<<<1, 32, 0, s>>>(), cudaDeviceSynchronize(); });
  for (const int nodes : {1, 10, 100, 1000}) {
    cudaGraph_t g;
    cudaGraphExec_t x;
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < nodes; ++k) nothing<<<1, 32, 0, s>>>();
    MUST(cudaStreamEndCapture(s, &g));
    const double begin = now();
    MUST(cudaGraphInstantiate(&x, g, 0));
    tell("host_graph_instantiate_" + std::to_string(nodes), now() - begin);
    MUST(cudaGraphLaunch(x, s));
    host("graph_launch_" + std::to_string(nodes), nodes < 100 ? 10 : 1, [&] { cudaGraphLaunch(x, s); });
    host("graph_launch_and_synchronize_" + std::to_string(nodes), 1, [&] { cudaGraphLaunch(x, s), cudaStreamSynchronize(s); });
    tell("graph_between_events_" + std::to_string(nodes), microseconds(s, [&] { cudaGraphLaunch(x, s); }));
    // Eight branches beside each other.
    if (nodes < 100) continue;
    cudaEvent_t fork, join[8];
    cudaStream_t side[8];
    MUST(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    MUST(cudaEventRecord(fork, s));
    for (int k = 0; k < 8; ++k) {
      MUST(cudaStreamCreateWithFlags(&side[k], cudaStreamNonBlocking)), MUST(cudaEventCreateWithFlags(&join[k], cudaEventDisableTiming));
      MUST(cudaStreamWaitEvent(side[k], fork));
      for (int n = 0; n < nodes / 8; ++n) nothing<<<1, 32, 0, side[k]>>>();
      MUST(cudaEventRecord(join[k], side[k])), MUST(cudaStreamWaitEvent(s, join[k]));
    }
    MUST(cudaStreamEndCapture(s, &g)), MUST(cudaGraphInstantiate(&x, g, 0)), MUST(cudaGraphLaunch(x, s));
    tell("graph_of_8_branches_between_events_" + std::to_string(nodes), microseconds(s, [&] { cudaGraphLaunch(x, s); }));
  }

  tell("between_events_nothing", microseconds(s, [] {}));
  tell("between_events_a_kernel", microseconds(s, [&] { nothing<<<1, 32, 0, s>>>(); }));
  tell("between_events_two_kernels", microseconds(s, [&] { nothing<<<1, 32, 0, s>>>(), nothing<<<1, 32, 0, s>>>(); }));
  tell("between_events_200_kernels", microseconds(s, [&] { for (int k = 0; k < 200; ++k) nothing<<<1, 32, 0, s>>>(); }));
  // All submitted before it begins: what the device needs.
  const auto queued = [&](const std::string& name, auto&& f) {
    cudaEvent_t a, b;
    MUST(cudaEventCreate(&a)), MUST(cudaEventCreate(&b));
    std::vector<float> all;
    for (int k = 0; k <= rounds(); ++k) {
      delay<><<<1, 1, 0, s>>>(1000000);
      MUST(cudaEventRecord(a, s));
      f();
      MUST(cudaEventRecord(b, s)), MUST(cudaEventSynchronize(b));
      float ms = 0;
      MUST(cudaEventElapsedTime(&ms, a, b));
      if (k) all.push_back(ms);
    }
    std::sort(all.begin(), all.end());
    tell(name, all[all.size() / 2] * 1000);
  };
  queued("queued_nothing", [] {});
  queued("queued_a_kernel", [&] { nothing<<<1, 32, 0, s>>>(); });
  queued("queued_two_kernels", [&] { nothing<<<1, 32, 0, s>>>(), nothing<<<1, 32, 0, s>>>(); });
  queued("queued_50_kernels", [&] { for (int k = 0; k < 50; ++k) nothing<<<1, 32, 0, s>>>(); });
  for (size_t b = 4096; b <= kMost; b *= 4) {
    queued("copy_in_pinned_" + size(b), [&] { cudaMemcpyAsync(device, pinned, b, cudaMemcpyHostToDevice, s); });
    queued("copy_out_pinned_" + size(b), [&] { cudaMemcpyAsync(pinned, device, b, cudaMemcpyDeviceToHost, s); });
    queued("copy_within_" + size(b), [&] { cudaMemcpyAsync(device, other, b, cudaMemcpyDeviceToDevice, s); });
    queued("set_" + size(b), [&] { cudaMemsetAsync(device, 0, b, s); });
    queued("two_copies_in_pinned_" + size(b), [&] {
      cudaMemcpyAsync(device, pinned, b, cudaMemcpyHostToDevice, s), cudaMemcpyAsync(device, pinned, b, cudaMemcpyHostToDevice, s);
    });
    queued("two_copies_within_" + size(b), [&] {
      cudaMemcpyAsync(device, other, b, cudaMemcpyDeviceToDevice, s), cudaMemcpyAsync(device, other, b, cudaMemcpyDeviceToDevice, s);
    });
    queued("two_sets_" + size(b), [&] { cudaMemsetAsync(device, 0, b, s), cudaMemsetAsync(device, 0, b, s); });
    tell("copy_in_pageable_" + size(b), microseconds(s, [&] { cudaMemcpyAsync(device, pageable, b, cudaMemcpyHostToDevice, s); }));
    tell("copy_out_pageable_" + size(b), microseconds(s, [&] { cudaMemcpyAsync(pageable, device, b, cudaMemcpyDeviceToHost, s); }));
    double begin = 0, least_in = 1e30, least_out = 1e30;
    for (int k = 0; k < 5; ++k) {
      begin = now();
      MUST(cudaMemcpy(device, pageable, b, cudaMemcpyHostToDevice));
      least_in = std::min(least_in, now() - begin);
      begin = now();
      MUST(cudaMemcpy(pageable, device, b, cudaMemcpyDeviceToHost));
      least_out = std::min(least_out, now() - begin);
    }
    tell("host_copy_in_pageable_" + size(b), least_in), tell("host_copy_out_pageable_" + size(b), least_out);
  }
  // In and out at once, in two streams.
  tell("copies_both_ways_64MiB", microseconds(s, [&] {
         MUST(cudaEventRecord(e, s)), MUST(cudaStreamWaitEvent(t, e));
         MUST(cudaMemcpyAsync(device, pinned, 64 << 20, cudaMemcpyHostToDevice, s));
         MUST(cudaMemcpyAsync(pinned + (64 << 20), device + (64 << 20), 64 << 20, cudaMemcpyDeviceToHost, t));
         MUST(cudaEventRecord(e, t)), MUST(cudaStreamWaitEvent(s, e));
       }));
  MUST(cudaDeviceSynchronize());
  std::puts("ok");
}
