// SPDX-License-Identifier: Apache-2.0
// Threads and warps that have exited do not hold up a barrier: the others meet without them.
#include "program.h"
using namespace program;

__global__ void early_exit(uint32_t* out, int live, int rounds) {
  __shared__ uint32_t cell[1024];
  const int t = threadIdx.x;
  if (t >= live) return;
  uint32_t v = mix(t + blockIdx.x);
  for (int r = 0; r < rounds; ++r) {
    cell[t] = v;
    __syncthreads();
    v = mix(v + cell[(t + r + 1) % live]);
    __syncthreads();
  }
  out[blockIdx.x * 1024 + t] = v;
}

// Whole warps leave one after the other, each after its own number of rounds.
__global__ void dwindling(uint32_t* out) {
  __shared__ uint32_t sum;
  const int t = threadIdx.x, warp = t / 32, warps = blockDim.x / 32;
  if (t == 0) sum = 0;
  __syncthreads();
  for (int r = 0;; ++r) {
    if (t % 32 == 0) atomicAdd(&sum, mix(r * 100 + warp));
    __syncthreads();
    out[r * blockDim.x + t] = sum;
    __syncthreads();
    if (r == warps - 1 - warp) return;
  }
}

int main() {
  for (int live : {1, 31, 32, 33, 500, 1000}) {
    Device<uint32_t> out(3 * 1024);
    early_exit<<<3, 1024>>>(out, live, 6);
    MUST_RUN();
    std::vector<uint32_t> want(3 * 1024);
    for (int b = 0; b < 3; ++b) {
      std::vector<uint32_t> v(live);
      for (int t = 0; t < live; ++t) v[t] = mix(t + b);
      for (int r = 0; r < 6; ++r) {
        const std::vector<uint32_t> before = v;
        for (int t = 0; t < live; ++t) v[t] = mix(before[t] + before[(t + r + 1) % live]);
      }
      for (int t = 0; t < live; ++t) want[b * 1024 + t] = v[t];
    }
    char name[40];
    std::snprintf(name, sizeof name, "%d threads of 1024 stay", live);
    expect_equal(name, out.copy(), want);
  }
  const int warps = 8, threads = warps * 32;
  Device<uint32_t> out(warps * threads);
  dwindling<<<1, threads>>>(out);
  MUST_RUN();
  std::vector<uint32_t> want(warps * threads);
  uint32_t sum = 0;
  for (int r = 0; r < warps; ++r) {
    for (int w = 0; w < warps - r; ++w) sum += mix(r * 100 + w);
    for (int t = 0; t < (warps - r) * 32; ++t) want[r * threads + t] = sum;
  }
  expect_equal("warps leave one by one", out.copy(), want);
  return finish();
}
