// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 85
// The mask names lanes that have ended: only living lanes have to come.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int flag;
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncwarp();
  const uint64_t p = SMEM(&flag);
  if (t < 16) {
    __syncwarp();
    if (t == 0) STORE("release.cta.shared::cta", p, 1);
    out[t] = t;
  } else {
    return;
  }
}

int main() {
  int* out = zeros(16);
  kernel<<<1, 32>>>(out);
  return judge(out, 16, [](int i) { return i; });
}
