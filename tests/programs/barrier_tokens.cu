// SPDX-License-Identifier: Apache-2.0
// cuda::barrier in a block: arrive and wait apart, several arrivals at once, arrive_and_drop, parity waits,
// a completion function.
#include <cuda/barrier>

#include "program.h"
using namespace program;
#pragma nv_diag_suppress static_var_with_dynamic_init

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void arrive_then_wait(uint32_t* out, int rounds) {
  __shared__ Barrier barrier;
  __shared__ uint32_t cell[2][256];
  const int t = threadIdx.x, n = blockDim.x;
  if (t == 0) init(&barrier, n);
  __syncthreads();
  uint32_t v = mix(t);
  for (int r = 0; r < rounds; ++r) {
    cell[r % 2][t] = v;
    auto token = barrier.arrive();
    const uint32_t own = mix(v + r);  // work between arrival and wait
    barrier.wait(std::move(token));
    v = own + cell[r % 2][(t + 1) % n];
  }
  out[blockIdx.x * n + t] = v;
}

// One thread arrives for its whole warp.
__global__ void arrive_many(uint32_t* out) {
  __shared__ Barrier barrier;
  __shared__ uint32_t cell[128];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int r = 0; r < 5; ++r) {
    cell[t] = mix(t + r);
    __syncwarp();
    const bool parity = r & 1;
    if (t % 32 == 0) (void)barrier.arrive(32);
    barrier.wait_parity(parity);
    out[r * 128 + t] = cell[127 - t];
    __syncthreads();
  }
}

__global__ void drop_out(uint32_t* out) {
  __shared__ Barrier barrier;
  __shared__ uint32_t sum;
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, blockDim.x), sum = 0;
  __syncthreads();
  for (int r = 0; r <= t / 16; ++r) {
    atomicAdd(&sum, mix(r * 1000 + t));
    if (r == t / 16) {
      barrier.arrive_and_drop();
      break;
    }
    barrier.arrive_and_wait();
    out[r * 128 + t] = sum;
    __threadfence_block();
    barrier.arrive_and_wait();
  }
}

struct Tally {
  uint32_t* phases;
  __device__ void operator()() noexcept { *phases += 1; }
};

__global__ void completion(uint32_t* phases) {
  __shared__ cuda::barrier<cuda::thread_scope_block, Tally> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x, Tally{phases});
  __syncthreads();
  for (int r = 0; r < 7; ++r) barrier.arrive_and_wait();
}

__global__ void device_scope(cuda::barrier<cuda::thread_scope_device>* barrier, volatile uint32_t* cell, uint32_t* out, int rounds) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t v = mix(i);
  for (int r = 0; r < rounds; ++r) {
    cell[r % 2 * n + i] = v;
    barrier->arrive_and_wait();
    v = mix(v + cell[r % 2 * n + (i + blockDim.x + 1) % n]);
  }
  out[i] = v;
}

__global__ void init_device(cuda::barrier<cuda::thread_scope_device>* barrier, int count) { init(barrier, count); }

int main() {
  const int n = 200;
  Device<uint32_t> out(2 * n), many(5 * 128), dropped(8 * 128), phases(1);
  arrive_then_wait<<<2, n>>>(out, 11);
  MUST_RUN();
  std::vector<uint32_t> v(n);
  for (int t = 0; t < n; ++t) v[t] = mix(t);
  for (int r = 0; r < 11; ++r) {
    const std::vector<uint32_t> before = v;
    for (int t = 0; t < n; ++t) v[t] = mix(before[t] + r) + before[(t + 1) % n];
  }
  v.insert(v.end(), v.begin(), v.end());
  expect_equal("arrive, then wait", out.copy(), v);

  arrive_many<<<1, 128>>>(many);
  MUST_RUN();
  std::vector<uint32_t> want(5 * 128);
  for (int k = 0; k < 5 * 128; ++k) want[k] = mix(127 - k % 128 + k / 128);
  expect_equal("one arrives for a warp", many.copy(), want);

  drop_out<<<1, 128>>>(dropped);
  MUST_RUN();
  want.assign(8 * 128, 0);
  uint32_t sum = 0;
  for (int r = 0; r < 8; ++r) {
    for (int t = r * 16; t < 128; ++t) sum += mix(r * 1000 + t);
    for (int t = (r + 1) * 16; t < 128; ++t) want[r * 128 + t] = sum;
  }
  expect_equal("threads drop out", dropped.copy(), want);

  completion<<<1, 96>>>(phases);
  MUST_RUN();
  expect_equal("completion function", phases.copy(), {7});

  const int blocks = 6, threads = 64, all_threads = blocks * threads, rounds = 5;
  Device<cuda::barrier<cuda::thread_scope_device>> barrier(1);
  Device<uint32_t> cell(2 * all_threads), result(all_threads);
  init_device<<<1, 1>>>(barrier, all_threads);
  device_scope<<<blocks, threads>>>(barrier, cell, result, rounds);
  MUST_RUN();
  v.resize(all_threads);
  for (int t = 0; t < all_threads; ++t) v[t] = mix(t);
  for (int r = 0; r < rounds; ++r) {
    const std::vector<uint32_t> before = v;
    for (int t = 0; t < all_threads; ++t) v[t] = mix(before[t] + before[(t + threads + 1) % all_threads]);
  }
  expect_equal("device scope", result.copy(), v);
  return finish();
}
