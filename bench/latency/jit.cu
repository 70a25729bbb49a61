// SPDX-License-Identifier: Apache-2.0
// What the first launch of a kernel of about 1000 PTX instructions costs in a new process.
// Prints one JSON line; times are in milliseconds.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

constexpr int kThreads = 128, kLive = 8;

// One step mixes what real kernels mix: float and integer arithmetic, compare and select, shared memory, a branch.
template <int kStep>
__device__ __forceinline__ void step(float (&x)[kLive], unsigned (&n)[kLive], float* shared) {
  constexpr int a = kStep % kLive, b = (kStep * 3 + 1) % kLive, c = (kStep * 5 + 2) % kLive;
  x[a] = x[a] * x[b] + x[c];
  n[a] = (n[a] ^ n[b]) * 2654435761u + (n[c] >> (kStep % 13 + 1));
  x[b] = x[b] > x[c] ? x[b] - 0.5f * x[a] : x[b] + x[c];
  n[b] = n[b] > n[a] ? n[b] - n[a] : n[b] + (n[a] << 3);
  if constexpr (kStep % 8 == 3) {
    shared[(threadIdx.x + n[a]) % kThreads] = x[a];
    __syncthreads();
    x[c] += shared[(threadIdx.x * 7 + kStep) % kThreads];
    __syncthreads();
  }
  if constexpr (kStep % 8 == 6)
    if (n[c] & 1) x[c] = x[c] * 1.25f + float(n[b] & 255);
}

template <int kStep, int kEnd>
__device__ __forceinline__ void steps(float (&x)[kLive], unsigned (&n)[kLive], float* shared) {
  if constexpr (kStep < kEnd) {
    step<kStep>(x, n, shared);
    steps<kStep + 1, kEnd>(x, n, shared);
  }
}

__global__ void thousand(const float* in, float* out) {
  __shared__ float shared[kThreads];
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  float x[kLive];
  unsigned n[kLive];
  for (int k = 0; k < kLive; ++k) x[k] = in[(i + k * 31) % kThreads], n[k] = i * 747796405u + k;
  steps<0, 60>(x, n, shared);
  float sum = 0;
  for (int k = 0; k < kLive; ++k) sum += x[k] + float(n[k] & 15);
  out[i] = sum;
}

static void ok(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "bench: CUDA: %s\n", cudaGetErrorString(status));
  std::exit(2);
}

static double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main() {
  const double begin = milliseconds();
  float *in = nullptr, *out = nullptr;
  ok(cudaMalloc(&in, kThreads * sizeof(float)));
  ok(cudaMalloc(&out, kThreads * sizeof(float)));
  ok(cudaMemset(in, 0, kThreads * sizeof(float)));
  ok(cudaDeviceSynchronize());
  double times[12], start = milliseconds();
  const double context = start - begin;
  cudaFuncAttributes attributes;
  ok(cudaFuncGetAttributes(&attributes, thousand));
  const double query = milliseconds() - start;
  for (double& time : times) {
    start = milliseconds();
    thousand<<<1, kThreads>>>(in, out);
    ok(cudaGetLastError());
    ok(cudaDeviceSynchronize());
    time = milliseconds() - start;
  }
  std::printf("{\"context_ms\": %f, \"attributes_ms\": %f, \"first_launch_ms\": %f, \"later_launch_ms\": %f}\n", context, query,
              times[0], times[11]);
  return 0;
}
