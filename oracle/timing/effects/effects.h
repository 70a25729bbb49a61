// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: checked calls, times by events, one line `NAME MICROSECONDS` each.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

inline void must(cudaError_t e, const char* what) {
  if (e != cudaSuccess) std::printf("FAIL: %s: %s\n", what, cudaGetErrorString(e)), std::exit(1);
}
#define MUST(call) must(call, #call)

inline int& rounds() {
  static int n = 3;
  return n;
}
inline void arguments(int argc, char** argv) {
  if (argc > 1) rounds() = std::max(1, std::atoi(argv[1]));
}

// The median of some rounds, behind one that warms up. What f submits begins behind `s` and is joined into it.
template <class F>
double microseconds(cudaStream_t s, F&& f) {
  cudaEvent_t start, stop;
  MUST(cudaEventCreate(&start)), MUST(cudaEventCreate(&stop));
  std::vector<float> all;
  for (int k = 0; k <= rounds(); ++k) {
    MUST(cudaDeviceSynchronize());
    MUST(cudaEventRecord(start, s));
    f();
    MUST(cudaGetLastError());
    MUST(cudaEventRecord(stop, s));
    MUST(cudaEventSynchronize(stop));
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, start, stop));
    if (k) all.push_back(ms);
  }
  MUST(cudaEventDestroy(start)), MUST(cudaEventDestroy(stop));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2] * 1000.0;
}

inline void tell(const std::string& name, double us) { std::printf("%s %.3f\n", name.c_str(), us); }
inline void check(bool right, const std::string& what) {
  if (!right) std::printf("FAIL: %s\n", what.c_str()), std::exit(1);
}

// Holds a stream, so that what is timed behind it is all submitted when it begins.
template <class = void>
__global__ void delay(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
