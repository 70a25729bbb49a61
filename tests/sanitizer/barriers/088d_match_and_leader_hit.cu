// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 88
// may: uninitialised-load
// Lanes with one key read what their leader has stored, without a sync.
#include "../twin.h"

__global__ void kernel(const int* keys, int* out) {
  __shared__ int first[32];
  const int lane = threadIdx.x, key = keys[lane];
  const unsigned peers = __match_any_sync(~0u, key);
  const int leader = __ffs(peers) - 1;
  if (lane == leader) first[key] = 100 + leader;  // expect: race-shared A
  out[lane] = first[key];  // expect: race-shared B
}

int main() {
  int *keys = device<int>(32, [](int i) { return i % 5; }), *out = zeros(32);
  kernel<<<1, 32>>>(keys, out);
  return ended();
}
