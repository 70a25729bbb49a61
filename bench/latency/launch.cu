// SPDX-License-Identifier: Apache-2.0
// What one launch of a cached empty kernel costs. Prints one JSON line; times are in microseconds.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void empty() {}
__global__ void empty_with_arguments(const float*, float*, int) {}

static void ok(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "bench: CUDA: %s\n", cudaGetErrorString(status));
  std::exit(2);
}

static double microseconds() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

constexpr int kBatch = 500, kBatches = 41, kSynchronous = 5001;

struct BackToBack {
  double total, submit;  // per launch: until all have run; until all are queued
};

template <class Launch>
static BackToBack back_to_back(const Launch& launch) {
  std::vector<double> total, submit;
  for (int b = 0; b < kBatches; ++b) {
    const double start = microseconds();
    for (int i = 0; i < kBatch; ++i) launch();
    const double queued = microseconds();
    ok(cudaDeviceSynchronize());
    total.push_back((microseconds() - start) / kBatch);
    submit.push_back((queued - start) / kBatch);
  }
  return {median(total), median(submit)};
}

template <class Launch>
static double launch_and_wait(const Launch& launch) {
  std::vector<double> times;
  for (int i = 0; i < kSynchronous; ++i) {
    const double start = microseconds();
    launch();
    ok(cudaDeviceSynchronize());
    times.push_back(microseconds() - start);
  }
  return median(times);
}

int main() {
  const auto plain = [] { empty<<<1, 32>>>(); };
  const auto arguments = [] { empty_with_arguments<<<1, 32>>>(nullptr, nullptr, 0); };
  const auto wide = [] { empty<<<132, 256>>>(); };
  for (int i = 0; i < 100; ++i) plain(), arguments(), wide();
  ok(cudaGetLastError());
  ok(cudaDeviceSynchronize());
  const BackToBack a = back_to_back(plain), b = back_to_back(arguments), c = back_to_back(wide);
  const double d = launch_and_wait(plain), e = launch_and_wait(wide);
  ok(cudaGetLastError());
  std::printf("{\"back_to_back_us\": %f, \"submit_us\": %f, \"arguments_us\": %f, \"wide_us\": %f, \"launch_and_wait_us\": %f, "
              "\"wide_launch_and_wait_us\": %f}\n", a.total, a.submit, b.total, c.total, d, e);
  return 0;
}
