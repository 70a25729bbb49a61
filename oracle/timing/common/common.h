// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: buffers with reproducible contents, and the check at the end.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void must(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}

inline uint32_t next_random() {
  static uint32_t state = 12345;
  state = state * 1664525 + 1013904223;
  return state >> 8;
}

// `make` tells each element.
template <class T, class F>
T* filled(size_t n, F make) {
  std::vector<T> host(n);
  for (size_t i = 0; i < n; ++i) host[i] = make(i);
  T* device;
  must(cudaMalloc(&device, n * sizeof(T)), "cudaMalloc");
  must(cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return device;
}
template <class T>
T* zeros(size_t n) {
  T* device;
  must(cudaMalloc(&device, n * sizeof(T)), "cudaMalloc");
  must(cudaMemset(device, 0, n * sizeof(T)), "cudaMemset");
  return device;
}
inline float* floats(size_t n) {
  return filled<float>(n, [](size_t) { return static_cast<float>(next_random() % 2048) / 1024 - 1; });
}
inline uint32_t* numbers(size_t n, uint32_t below = 1u << 24) {
  return filled<uint32_t>(n, [=](size_t) { return next_random() % below; });
}
inline int finish() {
  must(cudaDeviceSynchronize(), "kernels");
  std::puts("done");
  return 0;
}
