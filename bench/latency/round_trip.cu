// SPDX-License-Identifier: Apache-2.0
// How long host and kernel need to answer each other through pinned memory, with one block or with BLOCKS blocks.
//   round_trip [BLOCKS]    prints one JSON line; times are in microseconds
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static void ok(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "bench: CUDA: %s\n", cudaGetErrorString(status));
  std::exit(2);
}
static double microseconds() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Mailbox {
  unsigned request, answer, pad[62];
};

__global__ void serve(volatile Mailbox* boxes, unsigned trips) {
  volatile Mailbox* box = boxes + blockIdx.x;
  for (unsigned k = 1; k <= trips; ++k) {
    while (box->request != k) {}
    box->answer = k;
    __threadfence_system();
  }
}

int main(int argc, char** argv) {
  const unsigned blocks = argc > 1 ? std::atoi(argv[1]) : 1, trips = 2000;
  Mailbox *host, *device;
  ok(cudaHostAlloc(&host, blocks * sizeof(Mailbox), cudaHostAllocMapped));
  ok(cudaHostGetDevicePointer(&device, host, 0));
  std::memset(host, 0, blocks * sizeof(Mailbox));
  serve<<<blocks, 1>>>(device, trips);
  std::vector<double> times;
  double sum = 0;
  for (unsigned k = 1; k <= trips; ++k)
    for (unsigned b = 0; b < blocks; ++b) {
      const double start = microseconds();
      __atomic_store_n(&host[b].request, k, __ATOMIC_RELEASE);
      while (__atomic_load_n(&host[b].answer, __ATOMIC_ACQUIRE) != k) {}
      if (k < trips / 10) continue;  // until all blocks are there
      times.push_back(microseconds() - start);
      sum += times.back();
    }
  ok(cudaDeviceSynchronize());
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) { return times[size_t(double(times.size() - 1) * part)]; };
  std::printf("{\"mean_us\": %f, \"median_us\": %f, \"p90_us\": %f, \"p99_us\": %f}\n", sum / double(times.size()), at(0.5), at(0.9),
              at(0.99));
}
