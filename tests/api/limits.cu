// SPDX-License-Identifier: Apache-2.0
// Limits: the heap of malloc in device code, the stack of recursion, the buffer of printf.
#include <unistd.h>

#include <cstring>
#include <string>

#include "api.h"

__global__ void take(size_t bytes, int* got) {
  void* p = malloc(bytes);
  *got = p != nullptr;
  if (p) static_cast<volatile char*>(p)[bytes - 1] = 1;
  free(p);
}
__global__ void take_many(size_t bytes, int* got) {
  for (*got = 0; *got < 1000 && malloc(bytes); ++*got) {}
}
__global__ void print(int n) {
  for (int i = 0; i < n; ++i) printf("line %d of many, %s\n", i, "and this is its end");
}
__device__ __noinline__ int deep(int n, volatile int* out) {
  volatile int here[16];
  for (int i = 0; i < 16; ++i) here[i] = n + i;
  if (n == 0) return here[3];
  const int below = deep(n - 1, out);
  return below + here[n % 16] - n;
}
__global__ void recurse(int n, int* out) { *out = deep(n, out); }

// What printf printed, beside the standard output.
static std::string printed_by(int lines) {
  std::fflush(stdout);
  std::FILE* file = std::tmpfile();
  const int old = dup(1);
  dup2(fileno(file), 1);
  print<<<1, 1>>>(lines);
  MUST(cudaDeviceSynchronize());
  std::fflush(stdout);
  dup2(old, 1);
  close(old);
  std::string text(static_cast<size_t>(std::ftell(file)) + (8 << 20), ' ');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

// What is lost when a kernel prints more than the buffer holds depends on time; the last call is kept.
static void some_are_lost() {
  constexpr int kLines = 100000;
  const std::string few = printed_by(100), many = printed_by(kLines);
  VALUE(few.find("line 0 of") != std::string::npos && few.find("line 99 of") != std::string::npos);
  VALUE(many.find("line 99999 of many, and this is its end\n") != std::string::npos);
}

int main() {
  int* d;
  size_t v = 0;
  MUST(cudaMallocManaged(&d, sizeof(int)));
  SHOW(cudaDeviceGetLimit(&v, cudaLimitMallocHeapSize));
  VALUE(v);
  SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{128} << 20));
  SHOW(cudaDeviceGetLimit(&v, cudaLimitMallocHeapSize));
  VALUE(v);
  take<<<1, 1>>>(size_t{64} << 20, d);
  SHOW(cudaDeviceSynchronize());
  VALUE(*d);
  take<<<1, 1>>>(size_t{256} << 20, d);
  SHOW(cudaDeviceSynchronize());
  VALUE(*d);
  SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{256} << 20));

  SHOW(cudaDeviceGetLimit(&v, cudaLimitStackSize));
  VALUE(v);
  SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 32768));
  SHOW(cudaDeviceGetLimit(&v, cudaLimitStackSize));
  VALUE(v);
  recurse<<<1, 32>>>(150, d);
  SHOW(cudaDeviceSynchronize());
  VALUE(*d);
  SHOW(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1));
  SHOW(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
  SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20));
  SHOW(cudaDeviceGetLimit(&v, cudaLimitStackSize));
  VALUE(v);
  SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 1000));
  SHOW(cudaDeviceGetLimit(&v, cudaLimitStackSize));
  VALUE(v);
  take_many<<<1, 1>>>(1 << 20, d);
  SHOW(cudaDeviceSynchronize());
  VALUE(*d > 64 && *d <= 128);
  for (const cudaLimit which : {cudaLimitMaxL2FetchGranularity, cudaLimitPersistingL2CacheSize, cudaLimitPrintfFifoSize})
    for (const size_t to : {size_t{0}, size_t{32}, size_t{100}, size_t{1000}, size_t{1} << 20, size_t{1} << 30}) {
      SHOW(cudaDeviceSetLimit(which, to));
      SHOW(cudaDeviceGetLimit(&v, which));
      VALUE(v);
    }
  SHOW(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
  SHOW(cudaGetLastError());
  some_are_lost();
  SHOW(cudaGetLastError());
  return 0;
}
