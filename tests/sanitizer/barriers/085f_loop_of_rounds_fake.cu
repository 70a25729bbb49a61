// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 85
// Lanes leave a loop of full shuffles together, and lanes without work take part.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = t; __any_sync(~0u, i < n); i += 32) {
    int v = i < n ? in[i] : 0;
    v += __shfl_xor_sync(~0u, v, 1);
    if (i < n) sum += v;
  }
  const unsigned some = __ballot_sync(~0u, t % 3 == 0);
  if (t % 3 == 0) sum += __shfl_sync(some, sum, 0);
  out[t] = sum;
}

int main() {
  int *in = iota(80), *out = zeros(32);
  kernel<<<1, 32>>>(in, out, 80);
  const auto plain = [](int t) {
    int s = 0;
    for (int i = t; i < 80; i += 32) s += i + (i ^ 1);
    return s;
  };
  return judge(out, 32, [&](int t) { return plain(t) + (t % 3 == 0 ? plain(0) : 0); });
}
