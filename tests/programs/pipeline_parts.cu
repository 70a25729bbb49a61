// SPDX-License-Identifier: Apache-2.0
// cuda::pipeline beyond the plain loop: a subset of the block's threads with a fixed number of producers, several
// copies in one stage, waits with a limit, quitting, copies of structs.
#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "program.h"
using namespace program;
namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init

using Pipe = cuda::pipeline<cuda::thread_scope_block>;

// The first 32 threads produce, the rest consumes; two copies for each stage.
__global__ void counted_producers(uint32_t* out, const uint32_t* a, const uint32_t* b, int batches) {
  __shared__ uint32_t left[3][64], right[3][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
  const auto block = cg::this_thread_block();
  Pipe pipe = cuda::make_pipeline(block, &state, 32);
  const int t = threadIdx.x;
  if (t < 32) {
    for (int k = 0; k < batches; ++k) {
      pipe.producer_acquire();
      cuda::memcpy_async(&left[k % 3][2 * t], a + k * 64 + 2 * t, cuda::aligned_size_t<8>(8), pipe);
      cuda::memcpy_async(&right[k % 3][2 * t], b + k * 64 + 2 * t, cuda::aligned_size_t<8>(8), pipe);
      pipe.producer_commit();
    }
  } else {
    for (int k = 0; k < batches; ++k) {
      pipe.consumer_wait();
      const int i = t - 32;
      out[k * 64 + i] = left[k % 3][i] * 3 + right[k % 3][63 - i];
      pipe.consumer_release();
    }
  }
}

// A pipeline ends with quit(): exactly one thread is told that it was the last, and the storage may serve again.
__global__ void quitting(uint32_t* out, const uint32_t* in, uint32_t* released) {
  __shared__ uint32_t tile[2][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cg::this_thread_block();
  const int t = threadIdx.x;
  uint32_t sum = 0;
  for (int life = 0; life < 3; ++life) {
    Pipe pipe = cuda::make_pipeline(block, &state);
    for (int k = 0; k < 5; ++k) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tile[k % 2][t], in + k * 128 + t, sizeof(uint32_t), pipe);
      pipe.producer_commit();
      pipe.consumer_wait();
      sum = sum * 5 + tile[k % 2][t ^ 1];
      pipe.consumer_release();
    }
    if (pipe.quit()) atomicAdd(released, 1);
    block.sync();
  }
  out[t] = sum;
}

struct Particle { float3 position; uint32_t id; };
__global__ void structs(uint32_t* out, const Particle* in, int batches) {
  __shared__ Particle tile[2][64];
  auto pipe = cuda::make_pipeline();
  const int t = threadIdx.x;
  uint32_t sum = 0;
  for (int k = 0; k <= batches; ++k) {
    if (k < batches) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tile[k % 2][t], in + k * 64 + t, sizeof(Particle), pipe);
      pipe.producer_commit();
    }
    if (k == 0) continue;
    if (k < batches) cuda::pipeline_consumer_wait_prior<1>(pipe);
    else cuda::pipeline_consumer_wait_prior<0>(pipe);
    __syncwarp();
    const Particle& p = tile[(k - 1) % 2][t ^ 3];
    sum = sum * 7 + p.id + uint32_t(p.position.x + p.position.y * 2 + p.position.z * 4);
    pipe.consumer_release();
    __syncwarp();
  }
  out[t] = sum;
}

__global__ void limited_wait(uint32_t* out, const uint32_t* in) {
  __shared__ uint32_t tile[64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  const auto block = cg::this_thread_block();
  Pipe pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, tile, in, sizeof tile, pipe);
  pipe.producer_commit();
  while (!pipe.consumer_wait_for(cuda::std::chrono::microseconds(50))) {}
  out[threadIdx.x] = tile[63 - threadIdx.x];
  pipe.consumer_release();
}

int main() {
  const int batches = 10;
  const std::vector<uint32_t> a = random_words(batches * 64, 1), b = random_words(batches * 64, 2), c = random_words(5 * 128, 3);
  Device<uint32_t> da(a), db(b), dc(c), out(batches * 64), quit(128), sums(64), limited(64), released(1);
  counted_producers<<<1, 96>>>(out, da, db, batches);
  MUST_RUN();
  std::vector<uint32_t> want(batches * 64), wanted(128), particle_sums(64);
  for (int k = 0; k < batches; ++k)
    for (int i = 0; i < 64; ++i) want[k * 64 + i] = a[k * 64 + i] * 3 + b[k * 64 + 63 - i];
  expect_equal("counted producers", out.copy(), want);
  quitting<<<1, 128>>>(quit, dc, released);
  MUST_RUN();
  for (int t = 0; t < 128; ++t)
    for (int k = 0; k < 15; ++k) wanted[t] = wanted[t] * 5 + c[k % 5 * 128 + (t ^ 1)];
  expect_equal("three lives of a pipeline", quit.copy(), wanted);
  expect_equal("last ones to quit", released.copy(), {3});
  std::vector<Particle> particles(batches * 64);
  for (int i = 0; i < batches * 64; ++i) particles[i] = {{float(i), float(i % 7), float(i % 11)}, mix(i)};
  Device<Particle> dp(particles);
  structs<<<1, 64>>>(sums, dp, batches);
  MUST_RUN();
  for (int t = 0; t < 64; ++t)
    for (int k = 0; k < batches; ++k) {
      const Particle& p = particles[k * 64 + (t ^ 3)];
      particle_sums[t] = particle_sums[t] * 7 + p.id + uint32_t(p.position.x + p.position.y * 2 + p.position.z * 4);
    }
  expect_equal("structs", sums.copy(), particle_sums);
  limited_wait<<<1, 64>>>(limited, da);
  MUST_RUN();
  std::vector<uint32_t> mirrored(64);
  for (int i = 0; i < 64; ++i) mirrored[i] = a[63 - i];
  expect_equal("wait with a limit", limited.copy(), mirrored);
  return finish();
}
