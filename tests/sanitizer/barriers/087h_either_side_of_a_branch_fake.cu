// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 87
// What a shuffle brings from a lane that is named, or a constant, is stored behind the branch.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  const int lane = threadIdx.x;
  int v;
  if (in[lane] % 2 == 0) {
    v = __shfl_xor_sync(0x55555555, in[lane], 2);
  } else {
    v = -1;
  }
  out[lane] = v;
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return i % 2 ? -1 : i ^ 2; });
}
