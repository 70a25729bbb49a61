// SPDX-License-Identifier: Apache-2.0
// Threads that wait for threads of blocks behind theirs, in a loop around a barrier of the block whose looks at memory
// lie in a loop within, which ends whatever they see: over a thread's own items, or over those an item waits for.
// Threads leave at different times; the barrier does not wait for them.
#include "program.h"
using namespace program;

constexpr int kItems = 16 * 32;
__host__ __device__ int next(int i, int k) { return (i * (k ? 11 : 7) + 13 + k) % kItems; }

// level[i] = 1 + the highest level of those that it waits for; -1: not there yet
__global__ void own_items(volatile int* level) {
  const int first = threadIdx.x + blockIdx.x * blockDim.x, threads = gridDim.x * blockDim.x;
  bool again;
  do {
    again = false;
    for (int i = first; i < kItems; i += threads) {
      __syncthreads();
      if (level[i] < 0) {
        const int other = next(i, 0), seen = other > i ? level[other] : 0;
        if (seen < 0)
          again = true;
        else
          level[i] = 1 + seen;
      }
    }
  } while (again);
}

__global__ void neighbours(volatile int* level) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  int left = 3;  // a bit for each that it waits for
  int highest = 0;
  do {
    __syncthreads();
    int bits = left;
    while (bits) {
      const int k = __ffs(bits) - 1, other = next(i, k), seen = other > i ? level[other] : 0;
      bits &= bits - 1;
      if (seen >= 0) {
        left ^= 1 << k;
        highest = max(highest, seen);
      }
    }
    if (!left) level[i] = 1 + highest;
  } while (left);
}

template <typename F>
void run(const char* name, F kernel, int others) {
  std::vector<int> want(kItems);
  for (int i = kItems - 1; i >= 0; --i) {
    want[i] = 1;
    for (int k = 0; k < others; ++k)
      if (next(i, k) > i) want[i] = std::max(want[i], 1 + want[next(i, k)]);
  }
  Device<int> level(kItems);
  MUST(cudaMemset(level, 0xff, kItems * sizeof(int)));
  kernel<<<kItems / 32, 32>>>(level);
  MUST_RUN();
  expect_equal(name, level.copy(), want);
}

int main() {
  run("items of a thread", own_items, 1);
  run("neighbours of an item", neighbours, 2);
  return finish();
}
