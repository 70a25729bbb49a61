// SPDX-License-Identifier: Apache-2.0
// What branches and the places where lanes meet again cost a warp, and constants that all lanes read. Prints a line for
// each: what, warps of a sub-partition, what is varied, cycles of a turn (the last warp, everything there before).
#include <algorithm>
#include <cstdint>
#include <cstdio>

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
__device__ float loads(float v, const float* a) {  // is not predicated
  float w;
  asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(w) : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(a))));
  return v + w;
}

__global__ void straight(float* out, long long* cycles, float x) {
  float v = x;
  long long from = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    from = clock64();
#pragma unroll 1
    for (int k = 0; k < kTurns; ++k) v = body(v, x);
  }
  cycles[blockIdx.x * blockDim.x + threadIdx.x] = clock64() - from;
  out[threadIdx.x] = v;
}

// Lanes below `some` go through the body; then all meet again.
__global__ void meet(float* out, long long* cycles, float x, int some) {
  float v = x;
  long long from = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    from = clock64();
#pragma unroll 1
    for (int k = 0; k < kTurns; ++k) {
      if (int(threadIdx.x % 32) < some) {
        v = body(v, x);
        v = body(v, v);
        v = body(v, x);
      }
      asm volatile("" : "+f"(v));
      __syncwarp(__activemask() | 1);
    }
  }
  cycles[blockIdx.x * blockDim.x + threadIdx.x] = clock64() - from;
  out[threadIdx.x] = v;
}

// ... of two bodies each lane goes through one.
__global__ void choose(float* out, long long* cycles, float x, int some) {
  float v = x;
  long long from = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    from = clock64();
#pragma unroll 1
    for (int k = 0; k < kTurns; ++k) {
      if (int(threadIdx.x % 32) < some) {
        v = body(v, x);
        v = body(v, v);
        v = body(v, x);
      } else {
        v = body(v, v);
        v = body(v, x);
        v = body(v, v);
      }
    }
  }
  cycles[blockIdx.x * blockDim.x + threadIdx.x] = clock64() - from;
  out[threadIdx.x] = v;
}

// All go through the body, or past it; the compiler knows that.
__global__ void together(float* out, long long* cycles, float x, int some) {
  float v = x;
  long long from = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    from = clock64();
#pragma unroll 1
    for (int k = 0; k < kTurns; ++k) {
      if (some > k) {
        v = body(v, x);
        v = body(v, v);
        v = body(v, x);
      }
    }
  }
  cycles[blockIdx.x * blockDim.x + threadIdx.x] = clock64() - from;
  out[threadIdx.x] = v;
}

__constant__ uint32_t table[4096];
// `kMany` constants a turn, at places that all lanes know, of the first `words`.
template <int kMany>
__global__ void constants(float* out, long long* cycles, float x, int words) {
  float v = x, w = x;
  long long from = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    from = clock64();
    int at = 0;
#pragma unroll 1
    for (int k = 0; k < kTurns; ++k) {
#pragma unroll
      for (int j = 0; j < kMany; ++j) (j & 1 ? v : w) = (j & 1 ? v : w) * x + __uint_as_float(table[at + j]);
      at += kMany;
      if (at >= words) at = 0;
    }
  }
  cycles[blockIdx.x * blockDim.x + threadIdx.x] = clock64() - from;
  out[threadIdx.x] = v + w;
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
    for (const int words : {64, 256, 512, 1024, 2048, 4096}) {
      constants<1><<<1, threads>>>(out, cycles, 0.5f, words), line("constants_1", warps, words);
      constants<4><<<1, threads>>>(out, cycles, 0.5f, words), line("constants_4", warps, words);
      constants<8><<<1, threads>>>(out, cycles, 0.5f, words), line("constants_8", warps, words);
    }
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
