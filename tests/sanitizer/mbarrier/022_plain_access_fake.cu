// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 22
// After inval the bytes are ordinary memory again.
#include "../twin.h"

__global__ void kernel(uint64_t* out) {
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 0);
  MBAR_INVAL(&bar);
  bar = 5;
  out[0] = bar;
}

int main() {
  uint64_t* out = device<uint64_t>(1, [](int) { return 0; });
  kernel<<<1, 1>>>(out);
  return judge(out, 1, [](int) { return 5; });
}
