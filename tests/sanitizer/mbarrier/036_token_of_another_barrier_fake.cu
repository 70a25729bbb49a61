// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 36
// A token is tested by another lane than the one that got it.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar, other;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 32);
    MBAR_INIT(&other, 32);
  }
  __syncwarp();
  uint64_t token;
  int done = 0;
  MBAR_TOKEN(token, &bar);
  MBAR_ARRIVE(&other);
  token = __shfl_xor_sync(~0u, token, 1);
  while (!done) MBAR_TEST_TOKEN(done, &bar, token);
  out[t] = done;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return judge(out, 32, [](int) { return 1; });
}
