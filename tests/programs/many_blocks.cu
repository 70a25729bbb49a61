// SPDX-License-Identifier: Apache-2.0
// Very many small blocks, empty kernels, launches one after the other without waiting,
// and a last block that finishes the work.
#include "program.h"
using namespace program;

__global__ void nothing() {}
__global__ void count(uint32_t* sum) {
  if (threadIdx.x == 0) atomicAdd(sum, blockIdx.x % 7);
}
__global__ void add_one(uint32_t* v) { v[threadIdx.x] += threadIdx.x; }

__global__ void last_block(uint32_t* partial, uint32_t* done, uint32_t* result, const uint32_t* in) {
  __shared__ uint32_t sum, last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(done, 1) == gridDim.x - 1;
    sum = 0;
  }
  __syncthreads();
  if (!last) return;
  uint32_t mine = 0;
  for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x) mine += *const_cast<volatile uint32_t*>(&partial[k]);
  atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) *result = sum;
}

int main() {
  Device<uint32_t> sum(1), v(128), partial(777), done(1), result(1);
  for (int k = 0; k < 100; ++k) nothing<<<1, 32>>>();
  nothing<<<dim3(1000, 10), 1>>>();
  const int blocks = 100003;
  count<<<blocks, 32>>>(sum);
  MUST_RUN();
  uint32_t want = 0;
  for (int k = 0; k < blocks; ++k) want += k % 7;
  expect_equal("100003 blocks", sum.copy(), {want});
  for (int k = 0; k < 500; ++k) add_one<<<1, 128>>>(v);
  MUST_RUN();
  std::vector<uint32_t> wanted(128);
  for (int t = 0; t < 128; ++t) wanted[t] = 500 * t;
  expect_equal("500 launches", v.copy(), wanted);
  const std::vector<uint32_t> in = random_words(777 * 64, 90);
  Device<uint32_t> from(in);
  last_block<<<777, 64>>>(partial, done, result, from);
  MUST_RUN();
  want = 0;
  for (uint32_t x : in) want += x;
  expect_equal("the last block sums up", result.copy(), {want});
  return finish();
}
