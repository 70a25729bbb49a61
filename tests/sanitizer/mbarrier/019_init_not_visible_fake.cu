// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 19
// A __syncwarp stands between.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 32);
  __syncwarp();
  MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 0);
  out[t] = t;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return judge(out, 32, [](int i) { return i; });
}
