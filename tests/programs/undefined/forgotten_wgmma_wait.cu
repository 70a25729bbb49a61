// SPDX-License-Identifier: Apache-2.0
// arch: compute_90a
// Reads the result of wgmma.mma_async without waiting for it, and overwrites a matrix that it may not have read yet:
// the result depends on when it is delivered.
#include "../program.h"
using namespace program;

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ uint64_t describe(const void* p) { return (shared(p) & 0x3ffff) >> 4 | uint64_t(128 >> 4) << 16 | uint64_t(256 >> 4) << 32; }

enum Mistake { kNone, kReadsEarly, kOverwritesEarly };

__global__ void multiply(int mistake, float* out) {
  __shared__ __align__(1024) uint16_t a[64 * 16], b[8 * 16];
  for (int k = threadIdx.x; k < 64 * 16; k += 128) a[k] = 0x3f80;  // 1
  for (int k = threadIdx.x; k < 8 * 16; k += 128) b[k] = 0x3f80;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const uint64_t of_a = describe(a), of_b = describe(b);
  float d[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < 2; ++k)
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(of_a), "l"(of_b)
                 : "memory");
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  if (mistake == kOverwritesEarly) {
    for (int k = threadIdx.x; k < 8 * 16; k += 128) b[k] = 0x4000;  // 2
    __syncthreads();
  }
  if (mistake != kReadsEarly) asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  out[threadIdx.x] = d[0];
}

int main() {
  const Device<float> out(128);
  for (int mistake : {kNone, kReadsEarly, kOverwritesEarly}) {
    multiply<<<1, 128>>>(mistake, out);
    MUST_RUN();
    const auto v = out.copy();
    std::printf("%s", mistake ? " " : "");
    for (int warp = 0; warp < 4; ++warp) std::printf("%s%g", warp ? "," : "", v[warp * 32]);
  }
  std::printf("\n");
}
