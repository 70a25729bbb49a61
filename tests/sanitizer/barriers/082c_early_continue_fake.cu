// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 82
// A thread that has nothing to do in a turn goes on behind the barrier.
#include "../twin.h"

__global__ void kernel(const int* work, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    const bool idle = work[k * 64 + t] == 0;
    if (!idle) s[t] = k;
    __syncthreads();
  }
  s[t] = t;
  __syncthreads();
  out[t] = s[t ^ 32];
}

int main() {
  int *work = device<int>(256, [](int i) { return i % 64 < 32 || i / 64 < 3; }), *out = zeros(64);
  kernel<<<1, 64>>>(work, out);
  return judge(out, 64, [](int i) { return i ^ 32; });
}
