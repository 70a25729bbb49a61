// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 53
// covers: A6
// The reads are ordered before the copy that overwrites them, but without a proxy fence (a note; usual code).
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t full, empty;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_INIT(&empty, 32);
    FENCE_MBAR_INIT();
  }
  __syncthreads();
  if (t == 32) {
    for (int i = 0; i < 2; ++i) {
      MBAR_WAIT(&empty, i ^ 1);
      MBAR_ARRIVE_EXPECT(&full, 128);
      BULK_LOAD(tile, in + 32 * i, 128, &full);  // expect: proxy-reuse B
    }
  } else if (t < 32) {
    for (int i = 0; i < 2; ++i) {
      MBAR_WAIT(&full, i);
      out[32 * i + t] = tile[t];  // expect: proxy-reuse A
      MBAR_ARRIVE(&empty);
    }
  }
}

int main() {
  int *in = iota(64), *out = zeros(64);
  kernel<<<1, 64>>>(in, out);
  return ended();
}
