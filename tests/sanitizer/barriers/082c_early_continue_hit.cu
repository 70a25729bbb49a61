// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 82
// may: race-shared
// A thread that has nothing to do in a turn goes on without the barrier.
#include "../twin.h"

__global__ void kernel(const int* work, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    const bool idle = work[k * 64 + t] == 0;
    if (idle) continue;
    s[t] = k;
    __syncthreads();  // expect: barrier-divergent A
  }
  s[t] = t;
  __syncthreads();  // expect: barrier-divergent B
  out[t] = s[t ^ 32];
}

int main() {
  int *work = device<int>(256, [](int i) { return i % 64 < 32 || i / 64 < 3; }), *out = zeros(64);
  kernel<<<1, 64>>>(work, out);
  return ended();
}
