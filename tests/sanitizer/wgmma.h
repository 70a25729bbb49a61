// SPDX-License-Identifier: Apache-2.0
// The smallest warpgroup product for the twins: m64n8k16 of f16 into f32, tiles of ones in shared memory without
// swizzle (core matrices of 8 rows of 16 bytes, one behind the other). D grows by 16 with each product.
#pragma once
#include <cuda_fp16.h>

#include "twin.h"

// Start address, leading offset 128 bytes (along K), stride 256 bytes (along M or N), each in units of 16 bytes.
__device__ inline uint64_t matrix(const void* tile) {
  return (SMEM(tile) & 0x3ffff) >> 4 | uint64_t(128 >> 4) << 16 | uint64_t(256 >> 4) << 32;
}

// a and b: tiles of ones, visible to the asynchronous proxy.
#define TILES(a, b)                                                          \
  __shared__ alignas(128) __half a[64 * 16];                                 \
  __shared__ alignas(128) __half b[16 * 8];                                  \
  for (int i = threadIdx.x; i < 64 * 16; i += 128) a[i] = __float2half(1.f); \
  b[threadIdx.x] = __float2half(1.f);                                        \
  FENCE_ASYNC();                                                             \
  __syncthreads()

// The fence behind what the threads put into d.
#define WGMMA_FENCE(d) \
  asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory")
#define WGMMA_COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WGMMA(d, a, b)                                                                                      \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                             \
               : "l"(matrix(a)), "l"(matrix(b))                                                             \
               : "memory")
#define WGMMA_WAIT(d) \
  asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory")
