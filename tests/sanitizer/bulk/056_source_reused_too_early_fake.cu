// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 56
// covers: E5
// It is written again after wait_group.read, which is enough for the source.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ alignas(128) int tile[32];
  for (int i = 0; i < 32; ++i) tile[i] = i;
  FENCE_ASYNC();
  BULK_STORE(out, tile, 128);
  BULK_COMMIT();
  BULK_WAIT_READ(0);
  for (int i = 0; i < 32; ++i) tile[i] = -i;
  out[32] = tile[5];
  BULK_WAIT(0);
}

int main() {
  int* out = zeros(33);
  kernel<<<1, 1>>>(out);
  return judge(out, 33, [](int i) { return i < 32 ? i : -5; });
}
