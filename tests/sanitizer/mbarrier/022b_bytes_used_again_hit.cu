// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 22
// may: mbarrier-bytes
// The bytes of an mbarrier are used for data while it is alive.
#include "../twin.h"
__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(16) union U { uint64_t bar; int data[32]; } u;
  __shared__ alignas(16) int tile[32];
  const int t = threadIdx.x;
  if (t == 0) { MBAR_INIT(&u.bar, 1); FENCE_MBAR_INIT(); }
  __syncwarp();
  if (t == 0) { MBAR_ARRIVE_EXPECT(&u.bar, 128); BULK_LOAD(tile, in, 128, &u.bar); }
  MBAR_WAIT(&u.bar, 0);
  __syncwarp();
  u.data[t] = tile[t ^ 1];  // expect: mbarrier-bytes
  __syncwarp();
  out[t] = u.data[t ^ 3];
}
int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
