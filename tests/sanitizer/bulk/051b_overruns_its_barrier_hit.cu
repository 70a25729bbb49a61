// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 51
// may: deadlock
// A tile is longer than the array of its stage, and overwrites the stage's mbarrier, then what lies behind.
#include "../twin.h"

constexpr int kElements = 64;

struct Stage {
  int data[kElements];
  uint64_t full;
};

__global__ void kernel(const int* in, int* out, int bytes) {
  __shared__ alignas(128) Stage stage;
  if (threadIdx.x == 0) {
    MBAR_INIT(&stage.full, 1);
    FENCE_MBAR_INIT();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    MBAR_ARRIVE_EXPECT(&stage.full, bytes);
    BULK_LOAD(stage.data, in, bytes, &stage.full);  // expect: bounds-shared, mbarrier-bytes
  }
  MBAR_WAIT(&stage.full, 0);
  out[threadIdx.x] = stage.data[threadIdx.x];
}

int main() {
  int *in = iota(128), *out = zeros(kElements);
  kernel<<<1, kElements>>>(in, out, kElements * 4 + 16);
  return ended();
}
