// SPDX-License-Identifier: Apache-2.0
// cuda::atomic and cuda::atomic_ref in every scope: arithmetic, exchange, message passing with release and acquire,
// wait and notify.
#include <cuda/atomic>

#include "program.h"
using namespace program;

template <cuda::thread_scope kScope>
__global__ void arithmetic(uint32_t* cell, int64_t* wide, float* real) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<uint32_t, kScope> a(cell[0]), b(cell[1]), c(cell[2]), d(cell[3]), e(cell[4]);
  a.fetch_add(mix(i), cuda::memory_order_relaxed);
  b.fetch_xor(mix(i));
  c.fetch_max(mix(i), cuda::memory_order_acq_rel);
  d.fetch_or(1u << (i % 32), cuda::memory_order_release);
  uint32_t seen = e.load();
  while (!e.compare_exchange_weak(seen, seen + i * 7, cuda::memory_order_acq_rel, cuda::memory_order_relaxed)) {}
  cuda::atomic_ref<int64_t, kScope>(wide[0]).fetch_sub(i);
  cuda::atomic_ref<int64_t, kScope>(wide[1]).fetch_min(-int64_t(mix(i)));
  cuda::atomic_ref<float, kScope>(real[0]).fetch_add(float(i % 4));
}

template <cuda::thread_scope kScope>
void check_arithmetic(const char* name, int blocks) {
  const int threads = 96, n = blocks * threads;
  Device<uint32_t> cell(5);
  Device<int64_t> wide(2);
  Device<float> real(1);
  arithmetic<kScope><<<blocks, threads>>>(cell, wide, real);
  MUST_RUN();
  std::vector<uint32_t> want(5);
  std::vector<int64_t> want_wide(2);
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    want[0] += mix(i), want[1] ^= mix(i), want[2] = want[2] > mix(i) ? want[2] : mix(i), want[3] |= 1u << (i % 32), want[4] += i * 7;
    want_wide[0] -= i, want_wide[1] = want_wide[1] < -int64_t(mix(i)) ? want_wide[1] : -int64_t(mix(i)), sum += i % 4;
  }
  expect_equal(name, cell.copy(), want);
  expect("  64 bits and float", wide.copy() == want_wide && real.copy()[0] == sum);
}

struct Mail {
  uint32_t data[64];
  cuda::atomic<int, cuda::thread_scope_device> flag;
};

// Block 0 fills, block 1 reads and answers, block 0 checks; any number of pairs.
__global__ void messages(Mail* mail, uint32_t* out, int rounds) {
  Mail& m = mail[blockIdx.x / 2];
  const bool sender = blockIdx.x % 2 == 0;
  uint32_t sum = 0;
  for (int r = 0; r < rounds; ++r) {
    if (sender) {
      m.data[threadIdx.x] = mix(r * 64 + threadIdx.x);
      __syncthreads();
      if (threadIdx.x == 0) {
        m.flag.store(2 * r + 1, cuda::memory_order_release);
        while (m.flag.load(cuda::memory_order_acquire) != 2 * r + 2) {}
      }
      __syncthreads();
      sum = sum * 3 + m.data[63 - threadIdx.x];
      __syncthreads();
    } else {
      if (threadIdx.x == 0)
        while (m.flag.load(cuda::memory_order_acquire) != 2 * r + 1) {}
      __syncthreads();
      const uint32_t v = m.data[(threadIdx.x + 1) % 64];
      sum = sum * 5 + v;
      __syncthreads();
      m.data[threadIdx.x] = v ^ 0x55;
      __syncthreads();
      if (threadIdx.x == 0) m.flag.store(2 * r + 2, cuda::memory_order_release);
    }
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

__global__ void wait_notify(uint32_t* word, uint32_t* out) {
  cuda::atomic_ref<uint32_t, cuda::thread_scope_device> a(*word);
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) {
    uint32_t seen = a.load();
    while (seen != uint32_t(warp)) a.wait(seen), seen = a.load();
    out[warp] = seen * 10;
    a.store(warp + 1);
    a.notify_all();
  }
}

// Three threads: the last may only see the flag after both writes (cumulativity).
__global__ void chain(uint32_t* data, int* flags, uint32_t* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> first(flags[0]), second(flags[1]);
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    first.store(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    while (!first.load(cuda::memory_order_acquire)) {}
    data[1] = data[0] + 1;
    second.store(1, cuda::memory_order_release);
  } else {
    while (!second.load(cuda::memory_order_acquire)) {}
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    out[0] = data[0] * 100 + data[1];
  }
}

int main() {
  check_arithmetic<cuda::thread_scope_block>("block scope", 1);
  check_arithmetic<cuda::thread_scope_device>("device scope", 7);
  check_arithmetic<cuda::thread_scope_system>("system scope", 7);
  const int pairs = 6, rounds = 9;
  Device<Mail> mail(pairs);
  Device<uint32_t> out(pairs * 128);
  messages<<<2 * pairs, 64>>>(mail, out, rounds);
  MUST_RUN();
  std::vector<uint32_t> want(pairs * 128);
  for (int k = 0; k < pairs * 128; ++k)
    for (int r = 0; r < rounds; ++r) {
      const int t = k % 64;
      const bool sender = k / 64 % 2 == 0;
      if (sender) want[k] = want[k] * 3 + (mix(r * 64 + (63 - t + 1) % 64) ^ 0x55);
      else want[k] = want[k] * 5 + mix(r * 64 + (t + 1) % 64);
    }
  expect_equal("messages", out.copy(), want);
  Device<uint32_t> word(1), seen(8), last(1), data(2);
  Device<int> flags(2);
  wait_notify<<<1, 256>>>(word, seen);
  MUST_RUN();
  expect_equal("wait and notify", seen.copy(), {0, 10, 20, 30, 40, 50, 60, 70});
  chain<<<3, 32>>>(data, flags, last);
  MUST_RUN();
  expect_equal("a chain of three", last.copy(), {4243});
  return finish();
}
