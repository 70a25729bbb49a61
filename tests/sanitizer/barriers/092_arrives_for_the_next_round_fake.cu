// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 92
// A second barrier tells the producer that the round is over.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int slot[2];
  const int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < 2; ++i) {
      if (t == 0) slot[i] = 10 + i;
      BAR_ARRIVE(1, 64);
      BAR_SYNC(2, 64);
    }
  } else {
    for (int i = 0; i < 2; ++i) {
      BAR_SYNC(1, 64);
      if (t == 32) out[i] = slot[i];
      BAR_ARRIVE(2, 64);
    }
  }
}

int main() {
  int* out = zeros(2);
  kernel<<<1, 64>>>(out);
  return judge(out, 2, [](int i) { return 10 + i; });
}
