// SPDX-License-Identifier: Apache-2.0
// What a program's first launches cost the host, by the size of their code and by what is beside them in the program.
// Built once for each set of sizes: -DCODE=N (multiply-adds in a row in the launched kernels, 16 bytes each),
// -DOTHERS=N (kernels beside them), -DOTHER_CODE=N (their multiply-adds), -DDATA=N (bytes of a __device__ variable),
// -DVARIABLES=N (small __device__ variables beside it, of another kernel), -DCONSTANT=N (bytes of a __constant__ one).
// usage: first [BEFORE]   BEFORE: 1 cudaMalloc; 2 and a copy; 3 and cudaFuncGetAttributes of the first kernel
// Prints nanoseconds of the host: call of the first launch, until the device is done, the same for the second launch of
// that kernel, for the first and the second launch of another of the same size, and what is left of a loop of 20.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#ifndef CODE
#define CODE 16
#endif
#ifndef OTHERS
#define OTHERS 0
#endif
#ifndef OTHER_CODE
#define OTHER_CODE 16
#endif
#ifndef DATA
#define DATA 0
#endif
#ifndef VARIABLES
#define VARIABLES 0
#endif
#ifndef CONSTANT
#define CONSTANT 0
#endif

#if DATA > 0
__device__ unsigned char data[DATA];
#endif
#if CONSTANT > 0
__constant__ unsigned char constants[CONSTANT];
#endif
template <int K>
__device__ int variable = K;

template <int N>
__device__ __forceinline__ float work(float x, float y) {
#pragma unroll
  for (int i = 0; i < N; i++) x = fmaf(x, y, float(i * 7 + 3));
  return x;
}
template <int K>
__global__ void kernel(float* p, float y) {
  if (y != 0) *p = work<CODE>(*p, y) + K;
#if DATA > 0
  else *p = data[K];
#endif
#if CONSTANT > 0
  if (y == 2) *p = constants[K];
#endif
}
template <int K>
__global__ void other(float* p, float y) {
  if (y != 0) *p = work<OTHER_CODE>(*p, y) + K;
}
template <int... K>
const void* one_of(int k, std::integer_sequence<int, K...>) {
  const void* all[] = {nullptr, (const void*)other<K>...};
  return all[k];
}

template <int... K>
__global__ void variables(int* p, std::integer_sequence<int, K...>) {
  ((*p += variable<K>), ...);
}

static double now() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
template <class F>
static void time_of(F launch) {
  const double a = now();
  launch();
  const double b = now();
  cudaDeviceSynchronize();
  printf(" %.0f %.0f", b - a, now() - a);
}

int main(int argc, char** argv) {
  const int before = argc > 1 ? atoi(argv[1]) : 2;
  float *p, h[16] = {};
  if (argc > 9) puts(one_of(argc % (OTHERS + 1), std::make_integer_sequence<int, OTHERS>()) ? "" : " ");
  cudaMalloc(&p, 64);
  if (before > 1) cudaMemcpy(p, h, 64, cudaMemcpyHostToDevice);
  cudaFuncAttributes of;
#if VARIABLES > 0
  if (argc > 9) variables<<<1, 1>>>((int*)p, std::make_integer_sequence<int, VARIABLES>());
#endif
  if (before > 2) cudaFuncGetAttributes(&of, kernel<0>);
  cudaDeviceSynchronize();
  printf("%d %d %d %d %d %d %d |", CODE, OTHERS, OTHER_CODE, DATA, VARIABLES, CONSTANT, before);
  time_of([&] { kernel<0><<<1, 32>>>(p, 0); });
  time_of([&] { kernel<0><<<1, 32>>>(p, 0); });
  time_of([&] { kernel<1><<<1, 32>>>(p, 0); });
  time_of([&] { kernel<1><<<1, 32>>>(p, 0); });
  time_of([&] {
    for (int i = 0; i < 20; i++) kernel<1><<<1, 32>>>(p, 0);
  });
  const cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) return printf(" %s\n", cudaGetErrorString(e)), 1;
  printf("\n");
}
