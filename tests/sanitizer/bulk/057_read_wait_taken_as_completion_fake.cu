// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 57
// covers: A7, A8
// wait_group without .read says both.
#include "../twin.h"

__global__ void kernel(int* out, int* copy) {
  __shared__ alignas(128) int tile[32];
  for (int i = 0; i < 32; ++i) tile[i] = i;
  FENCE_ASYNC();
  BULK_STORE(out, tile, 128);
  BULK_COMMIT();
  BULK_WAIT(0);
  copy[0] = out[31];
}

int main() {
  int *out = zeros(32), *copy = zeros(1);
  kernel<<<1, 1>>>(out, copy);
  return judge(copy, 1, [](int) { return 31; });
}
