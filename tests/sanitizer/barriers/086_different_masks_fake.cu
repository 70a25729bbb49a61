// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 86
// Two halves of a warp meet apart, each with a mask of its own.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  if (t < 16) {
    WARP_SYNC(0x0000ffff);
    out[t] = tile[t ^ 1];
  } else {
    WARP_SYNC(0xffff0000);
    out[t] = tile[t ^ 1];
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return judge(out, 32, [](int i) { return i ^ 1; });
}
