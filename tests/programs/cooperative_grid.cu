// SPDX-License-Identifier: Apache-2.0
// A cooperative launch: this_grid().sync(), also as arrive and wait, and what the launch refuses.
#include <cooperative_groups.h>

#include <utility>

#include "program.h"
using namespace program;
namespace cg = cooperative_groups;

__global__ void rotate(uint32_t* a, uint32_t* b, int rounds) {
  const auto grid = cg::this_grid();
  const int n = grid.size(), i = grid.thread_rank();
  for (int r = 0; r < rounds; ++r) {
    uint32_t *from = r % 2 ? b : a, *to = r % 2 ? a : b;
    to[i] = mix(from[(i + 37) % n] + grid.block_rank());
    if (r % 3 == 2) {
      auto token = grid.barrier_arrive();
      grid.barrier_wait(std::move(token));
    } else {
      grid.sync();
    }
  }
}

int main() {
  const int blocks = 20, threads = 64, n = blocks * threads;
  int rounds = 10;
  std::vector<uint32_t> v = random_words(n, 9);
  Device<uint32_t> a(v), b(n);
  uint32_t *pa = a, *pb = b;
  void* args[] = {&pa, &pb, &rounds};
  MUST(cudaLaunchCooperativeKernel(rotate, blocks, threads, args));
  MUST_RUN();
  for (int r = 0; r < rounds; ++r) {
    const std::vector<uint32_t> before = v;
    for (int i = 0; i < n; ++i) v[i] = mix(before[(i + 37) % n] + i / threads);
  }
  expect_equal("rotation over the grid", a.copy(), v);
  int per_sm = 0, sms = 0;
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, rotate, 1024, 0));
  MUST(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  std::printf("too many blocks: %s\n", cudaGetErrorName(cudaLaunchCooperativeKernel(rotate, per_sm * sms + 1, 1024, args)));
  (void)cudaGetLastError();
  return finish();
}
