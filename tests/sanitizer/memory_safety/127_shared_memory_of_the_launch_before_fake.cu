// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 127
// A kernel leaves part of its shared memory unwritten and does not look at it.
#include "../twin.h"

__global__ void kernel(int* out, bool first) {
  __shared__ int count[32];
  if (threadIdx.x < 16) count[threadIdx.x] = 0;
  if (threadIdx.x < 16)
  if (count[threadIdx.x] == 0) out[threadIdx.x] = 1;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out, true);
  kernel<<<1, 32>>>(out, false);
  return judge(out, 32, [](int i) { return i < 16; });
}
