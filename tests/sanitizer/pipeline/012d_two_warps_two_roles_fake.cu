// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 12, 13
// A producer warp and a consumer warp of cuda::pipeline with two stages.
#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "../twin.h"
namespace cg = cooperative_groups;

__global__ void kernel(const int* in, int* out, int tiles) {
  constexpr int kStages = 2;
  __shared__ int buffer[kStages][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cg::this_thread_block();
  const auto role = block.thread_rank() < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  const int lane = threadIdx.x % 32;
  if (role == cuda::pipeline_role::producer) {
    for (int k = 0; k < tiles; ++k) {
      pipe.producer_acquire();
      cuda::memcpy_async(&buffer[k % kStages][lane], in + 32 * k + lane, 4, pipe);
      pipe.producer_commit();
    }
  } else {
    for (int k = 0; k < tiles; ++k) {
      pipe.consumer_wait();
      out[32 * k + lane] = buffer[k % kStages][31 - lane];
      pipe.consumer_release();
    }
  }
}

int main() {
  int *in = iota(32 * 6), *out = zeros(32 * 6);
  kernel<<<1, 64>>>(in, out, 6);
  return judge(out, 32 * 6, [](int i) { return i ^ 31; });
}
