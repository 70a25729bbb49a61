// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 41
// The index wraps around.
#include "../twin.h"

__global__ void kernel(int* out) {
  extern __shared__ uint64_t bars[];  // two barriers, then two words of data
  for (int i = 0; i < 2; ++i) MBAR_INIT(&bars[i], 1);
  bars[2] = bars[3] = 0;
  for (int stage = 0; stage < 3; ++stage) {
    MBAR_ARRIVE(&bars[stage % 2]);
    MBAR_WAIT(&bars[stage % 2], stage / 2);
  }
  out[0] = 1;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1, 32>>>(out);
  return judge(out, 1, [](int) { return 1; });
}
