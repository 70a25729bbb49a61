// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 57
// covers: A7, A8
// wait_group.read says that the source was read, not that the destination was written.
#include "../twin.h"

__global__ void kernel(int* out, int* copy) {
  __shared__ alignas(128) int tile[32];
  for (int i = 0; i < 32; ++i) tile[i] = i;
  FENCE_ASYNC();
  BULK_STORE(out, tile, 128);  // expect: async-group A
  BULK_COMMIT();
  BULK_WAIT_READ(0);
  copy[0] = out[31];  // expect: async-group B
}

int main() {
  int *out = zeros(32), *copy = zeros(1);
  kernel<<<1, 1>>>(out, copy);
  return ended();
}
