// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 90
// A named barrier of 32 threads in a block of 48.
#include "../twin.h"

__global__ void kernel(int* out, int count) {
  __shared__ int tile[48];
  const int t = threadIdx.x;
  tile[t] = t;
  if (t < 32) {
    BAR_SYNC(1, count);
    out[t] = tile[t ^ 1];
  }
}

int main() {
  int* out = zeros(48);
  kernel<<<1, 48>>>(out, 32);
  return judge(out, 48, [](int i) { return i < 32 ? i ^ 1 : 0; });
}
