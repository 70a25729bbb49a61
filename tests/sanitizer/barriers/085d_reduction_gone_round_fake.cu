// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 85
// __reduce_add_sync under a condition; the other lanes go on to store.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  const int t = threadIdx.x, v = in[t];
  int sum = 0;
  const unsigned some = __ballot_sync(~0u, v < 20);
  if (v < 20) sum = __reduce_add_sync(some, v);
  out[t] = sum;
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return i < 20 ? 190 : 0; });
}
