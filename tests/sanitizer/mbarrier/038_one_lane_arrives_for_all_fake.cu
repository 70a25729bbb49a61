// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 38
// A __syncwarp before the arrival gathers the stores of the warp.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  __shared__ int tile[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) MBAR_INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x < 32) {
    tile[lane] = lane;
    __syncwarp();
    if (lane == 0) MBAR_ARRIVE(&bar);
  } else {
    MBAR_WAIT(&bar, 0);
    out[lane] = tile[lane];
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 64>>>(out);
  return judge(out, 32, [](int i) { return i; });
}
