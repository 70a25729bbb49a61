// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 95
// Registers given back and taken, where only the machine code says how many the threads begin with.
#include "../twin.h"

__global__ void __launch_bounds__(384, 1) kernel(int* out) {
  const int group = threadIdx.x / 128;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    out[threadIdx.x] = group;
  } else {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  out[threadIdx.x] = group;
  }
}

int main() {
  int* out = zeros(384);
  kernel<<<1, 384>>>(out);
  return judge(out, 384, [](int i) { return i / 128; });
}
