// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 6
// covers: E5
// The thread writes the destination before it issues the copy, as code does that fills a border with zeros first.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = -1;
  CP_ASYNC(&tile[t], in + t, 4);
  CP_COMMIT();
  CP_WAIT(0);
  out[t] = tile[t];
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return i; });
}
