// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 95
// One warpgroup gives registers back, the others take exactly those.
#include "../twin.h"

__global__ void __maxnreg__(168) kernel(int* out) {
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
