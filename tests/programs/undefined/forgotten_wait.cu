// SPDX-License-Identifier: Apache-2.0
// Reads the destination of asynchronous copies without waiting for them: the result depends on when they are delivered.
#include "../program.h"
using namespace program;

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__global__ void small(const uint32_t* in, uint32_t* out) {
  __shared__ uint32_t cell[32];
  cell[threadIdx.x] = 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared(cell + threadIdx.x)), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  out[threadIdx.x] = *const_cast<volatile uint32_t*>(cell + threadIdx.x);
}

__global__ void bulk(const uint32_t* in, uint32_t* out) {
  __shared__ __align__(128) uint32_t cell[32];
  __shared__ uint64_t bar;
  cell[threadIdx.x] = 0;
  __syncwarp();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&bar)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(shared(cell)), "l"(in),
                 "r"(shared(&bar))
                 : "memory");
  }
  __syncwarp();
  out[threadIdx.x] = *const_cast<volatile uint32_t*>(cell + threadIdx.x);
}

int main() {
  const Device<uint32_t> in(std::vector<uint32_t>(32, 5)), out(32);
  for (auto kernel : {small, bulk}) {
    kernel<<<1, 32>>>(in, out);
    MUST_RUN();
    std::printf("%s\n", out.copy() == in.copy() ? "fresh" : "stale");
  }
}
