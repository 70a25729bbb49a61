// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 88
// The value itself goes through the shuffle.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  const int other = __shfl_xor_sync(~0u, t, 1);
  out[t] = tile[t] ^ t ^ other;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return judge(out, 32, [](int i) { return i ^ 1; });
}
