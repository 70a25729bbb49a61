// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 30
// A token of phase 1 is tested in phase 2.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ uint64_t bar;
  uint64_t token[2];
  int done = 0;
  MBAR_INIT(&bar, 1);
  MBAR_TOKEN(token[0], &bar);
  MBAR_WAIT(&bar, 0);
  MBAR_TOKEN(token[1], &bar);
  MBAR_WAIT(&bar, 1);
  MBAR_TEST_TOKEN(done, &bar, token[1]);
  out[0] = done;
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out);
  return judge(out, 1, [](int) { return 1; });
}
