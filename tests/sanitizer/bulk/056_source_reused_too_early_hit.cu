// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 56
// covers: E5
// The source of a bulk store is written again before the wait.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[32];
  for (int i = 0; i < 32; ++i) tile[i] = i;
  FENCE_ASYNC();
  BULK_STORE(out, tile, 128);  // expect: async-group A
  BULK_COMMIT();
  for (int i = 0; i < 32; ++i) tile[i] = -i;  // expect: async-group B
  BULK_WAIT(0);
  out[32] = tile[5];
}

int main() {
  int* out = zeros(33);
  kernel<<<1, 1>>>(out);
  return ended();
}
