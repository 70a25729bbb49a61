// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 32
// Both lanes wait for the phase before they arrive again.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 2);
  __syncwarp();
  for (int i = 0; i < 2; ++i) {
    MBAR_ARRIVE(&bar);
    MBAR_WAIT(&bar, i);
  }
  out[t] = t;
}

int main() {
  int* out = zeros(2);
  kernel<<<1, 2>>>(out);
  return judge(out, 2, [](int i) { return i; });
}
