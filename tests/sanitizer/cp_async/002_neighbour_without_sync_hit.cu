// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 2
// covers: A9
// Each thread waits for its own copy, then reads its neighbour's: the wait tells only the waiting thread.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  CP_ASYNC(&tile[t], in + t, 4);  // expect: race-shared A
  CP_COMMIT();
  CP_WAIT(0);
  out[t] = tile[t ^ 1];  // expect: race-shared B
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
