// SPDX-License-Identifier: Apache-2.0
// Blocks and grids in one, two and three dimensions, blocks that fill no whole warp, and special registers.
#include "program.h"
using namespace program;

__global__ void where(uint4* out) {
  const uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const uint32_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const uint32_t size = blockDim.x * blockDim.y * blockDim.z;
  uint32_t lane, warp_size;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, WARP_SZ;" : "=r"(warp_size));
  uint32_t below;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  uint4 v;
  v.x = threadIdx.x | threadIdx.y << 10 | threadIdx.z << 20;
  v.y = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
  v.z = lane | warp_size << 8 | __popc(below) << 16;
  v.w = __popc(__activemask()) + 100 * __syncthreads_count(thread % 3 == 0);
  out[block * size + thread] = v;
}

void check(dim3 grid, dim3 block) {
  const uint32_t size = block.x * block.y * block.z, blocks = grid.x * grid.y * grid.z;
  Device<uint4> out(size * blocks);
  where<<<grid, block>>>(out);
  MUST_RUN();
  std::vector<uint4> want(size * blocks);
  for (uint32_t b = 0; b < blocks; ++b)
    for (uint32_t t = 0; t < size; ++t) {
      const uint32_t last = size - t / 32 * 32;
      want[b * size + t] = {t % block.x | t / block.x % block.y << 10 | t / block.x / block.y << 20,
                            b % grid.x | b / grid.x % grid.y << 8 | b / grid.x / grid.y << 16, t % 32 | 32 << 8 | t % 32 << 16,
                            (last < 32 ? last : 32) + 100 * ((size + 2) / 3)};
    }
  char name[80];
  std::snprintf(name, sizeof name, "grid %ux%ux%u, block %ux%ux%u", grid.x, grid.y, grid.z, block.x, block.y, block.z);
  expect_equal(name, out.copy(), want);
}

int main() {
  for (int threads : {1, 2, 17, 31, 32, 33, 63, 100, 255, 511, 1023, 1024}) check(dim3(3), dim3(threads));
  check(dim3(2, 3, 4), dim3(8, 8, 2));
  check(dim3(5, 1, 2), dim3(3, 5, 7));
  check(dim3(1, 7, 1), dim3(1, 1, 64));
  check(dim3(2, 2, 2), dim3(1, 1023, 1));
  check(dim3(1, 1, 3), dim3(33, 3, 1));
  check(dim3(200, 1, 1), dim3(16, 2, 1));
  return finish();
}
