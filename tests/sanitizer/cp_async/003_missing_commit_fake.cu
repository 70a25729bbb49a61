// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 3
// One commit_group behind two copies takes both.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int first[32], second[32];
  const int t = threadIdx.x;
  CP_ASYNC(&first[t], in + t, 4);
  CP_ASYNC(&second[t], in + 32 + t, 4);
  CP_COMMIT();
  CP_WAIT(0);
  out[t] = first[t];
  out[t + 32] = second[t];
}

int main() {
  int *in = iota(64), *out = zeros(64);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 64, [](int i) { return i; });
}
