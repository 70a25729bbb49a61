// SPDX-License-Identifier: Apache-2.0
// What branches and the places where lanes meet again cost a warp, and constants that all lanes read. Prints a line for
// each: what, warps of a sub-partition, what is varied, cycles of a turn (the last warp, everything there before).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kTurns = 512;

// Eight additions that follow each other: 4 cycles each.
__device__ float body(float v, float x) {
  asm volatile(
      "add.f32 %0, %0, %1; add.f32 %0, %0, %1; add.f32 %0, %0, %1; add.f32 %0, %0, %1;"
      "add.f32 %0, %0, %1; add.f32 %0, %0, %1; add.f32 %0, %0, %1; add.f32 %0, %0, %1;"
      : "+f"(v)
      : "f"(x));
  return v;
}
__device__ float three(float v, float x) { return body(body(body(v, x), x), x); }

// The second time, when code and constants are there. `turn` changes what it is given.
template <class Turn>
__device__ void twice(float* out, long long* cycles, float x, const Turn& turn) {
  float v = x;
  long long from = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    from = clock64();
#pragma unroll 1
    for (int k = 0; k < kTurns; ++k) turn(v, k);
  }
  cycles[blockIdx.x * blockDim.x + threadIdx.x] = clock64() - from;
  out[threadIdx.x] = v;
}

__global__ void straight(float* out, long long* cycles, float x) {
  twice(out, cycles, x, [&](float& v, int) { v = body(v, x); });
}

// Lanes below `some` go through the body; then all meet again.
__global__ void meet(float* out, long long* cycles, float x, int some) {
  twice(out, cycles, x, [&](float& v, int) {
    if (int(threadIdx.x % 32) < some) v = three(v, x);
  });
}

// ... of two bodies each lane goes through one.
__global__ void choose(float* out, long long* cycles, float x, int some) {
  twice(out, cycles, x, [&](float& v, int) { v = int(threadIdx.x % 32) < some ? three(v, x) : three(v, v); });
}

// All go through the body, or past it; the compiler knows that.
__global__ void together(float* out, long long* cycles, float x, int some) {
  twice(out, cycles, x, [&](float& v, int k) {
    if (some > k) v = three(v, x);
  });
}

__constant__ uint32_t table[2048];
// `kMany` constants a turn, at places that all lanes know, of the first `words`.
template <int kMany>
__global__ void constants(float* out, long long* cycles, float x, int words) {
  int at = 0;
  twice(out, cycles, x, [&](float& v, int k) {
    if (k == 0) at = 0;
#pragma unroll
    for (int j = 0; j < kMany; ++j) v = v * x + __uint_as_float(table[at + j]);
    at += kMany;
    if (at >= words) at = 0;
  });
}

int main() {
  float* out;
  long long *cycles, host[1024];
  CHECK(cudaMalloc(&out, 4096));
  CHECK(cudaMalloc(&cycles, sizeof host));
  const auto line = [&](const char* what, int warps, int varied) {
    if (cudaMemcpy(host, cycles, warps * 4 * 32 * sizeof(long long), cudaMemcpyDeviceToHost) != cudaSuccess) exit(1);
    printf("%s %d %d | %.2f\n", what, warps, varied, double(*std::max_element(host, host + warps * 4 * 32)) / kTurns);
  };
  for (const int warps : {1, 2, 4, 8}) {
    const int threads = warps * 4 * 32;
    straight<<<1, threads>>>(out, cycles, 0.5f), line("straight", warps, 0);
    for (const int some : {0, 1, 16, 31, 32}) meet<<<1, threads>>>(out, cycles, 0.5f, some), line("meet", warps, some);
    for (const int some : {0, 1, 16, 32}) choose<<<1, threads>>>(out, cycles, 0.5f, some), line("choose", warps, some);
    for (const int some : {0, kTurns}) together<<<1, threads>>>(out, cycles, 0.5f, some), line("together", warps, some);
    for (const int words : {64, 512, 1024, 2048}) {
      constants<1><<<1, threads>>>(out, cycles, 0.5f, words), line("constants_1", warps, words);
      constants<4><<<1, threads>>>(out, cycles, 0.5f, words), line("constants_4", warps, words);
      constants<8><<<1, threads>>>(out, cycles, 0.5f, words), line("constants_8", warps, words);
    }
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
