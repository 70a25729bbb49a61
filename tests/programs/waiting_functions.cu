// SPDX-License-Identifier: Apache-2.0
// Functions in which lanes wait for each other, called from many places, by divided warps, through other such
// functions, with a guard, in loops, and through a pointer.
#include <cstdint>
#include <cstdio>

constexpr int kThreads = 64;

// Lanes of the mask pass their values on in a ring.
__device__ __noinline__ uint32_t ring(uint32_t mask, uint32_t value) {
  const int lane = threadIdx.x % 32;
  uint32_t later = mask & ~((2u << lane) - 1);
  const int from = __ffs(later ? later : mask) - 1;
  for (int k = 0; k < 3; ++k) {
    const uint32_t other = __shfl_sync(mask, value, from);
    __syncwarp(mask);
    value = value * 31 + other + k;
    if (value & 1) value ^= value >> 7;
    if ((value & 6) == 2) value += 11;
    value = (value << 5 | value >> 27) + 0x9e3779b9u;
    if (value % 3 == 0) value -= k * 5;
  }
  return value;
}

__device__ __noinline__ uint32_t two_rings(uint32_t mask, uint32_t value, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    value = ring(mask, value + r);
    if (__any_sync(mask, value & 8)) value = ring(mask, value ^ 0x55555555u);
  }
  return value;
}

// A lock per block: lanes take turns.
__device__ __noinline__ void locked_add(unsigned* lock, uint32_t* sum, uint32_t value) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0u, 1u) == 0) {
      __threadfence();
      *reinterpret_cast<volatile uint32_t*>(sum) = *reinterpret_cast<volatile uint32_t*>(sum) + value;
      __threadfence();
      atomicExch(lock, 0u);
      done = true;
    }
  }
}

using Function = uint32_t (*)(uint32_t, uint32_t);
__device__ __noinline__ uint32_t twice(uint32_t mask, uint32_t value) { return ring(mask, value) + ring(mask, value + 1); }
__device__ Function functions[] = {ring, twice};

__global__ void divided(uint32_t* out, unsigned* locks, uint32_t* sums, int which) {
  const int lane = threadIdx.x % 32;
  uint32_t v = threadIdx.x * 2654435761u + blockIdx.x;
  uint32_t* sum = sums + blockIdx.x;
  unsigned* lock = locks + blockIdx.x;
  if (lane < 10) {
    v = two_rings(0x3ffu, v, 2);
    locked_add(lock, sum, v & 0xff);
  } else if (lane < 17) {
    v = ring(0x1fc00u, v);
    v = two_rings(0x1fc00u, v, 1);
  } else {
    v = two_rings(0xfffe0000u, v, 3);
    if (v & 16) locked_add(lock, sum, v & 0x3f);
    __syncwarp(0xfffe0000u);
    v = ring(0xfffe0000u, v);
  }
  __syncthreads();
  v += *reinterpret_cast<volatile uint32_t*>(sum);
  __syncthreads();
  const bool even = lane % 2 == 0;
  if (even) v = ring(0x55555555u, v);
  if (!even) v = ring(0xaaaaaaaau, v);
  v = functions[(which + threadIdx.x / 32) % 2](0xffffffffu, v);
  locked_add(lock, sum, v & 0xfff);
  __syncthreads();
  v ^= *reinterpret_cast<volatile uint32_t*>(sum);
  out[blockIdx.x * blockDim.x + threadIdx.x] = two_rings(0xffffffffu, v, 2);
}

int main() {
  constexpr int blocks = 3;
  uint32_t *out, *sums;
  unsigned* locks;
  cudaMalloc(&out, blocks * kThreads * 4);
  cudaMalloc(&sums, blocks * 4);
  cudaMalloc(&locks, blocks * 4);
  for (int which = 0; which < 2; ++which) {
    cudaMemset(sums, 0, blocks * 4);
    cudaMemset(locks, 0, blocks * 4);
    divided<<<blocks, kThreads>>>(out, locks, sums, which);
    uint32_t host[blocks * kThreads];
    const cudaError_t e = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t v : host) hash = (hash ^ v) * 0x100000001b3u;
    printf("%d: %s %016llx, first %08x, last %08x\n", which, cudaGetErrorString(e), (unsigned long long)hash, host[0],
           host[blocks * kThreads - 1]);
  }
}
