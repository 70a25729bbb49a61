// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 22
// mbarrier.inval, then data.
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
  if (t == 0) MBAR_INVAL(&u.bar);
  __syncwarp();
  u.data[t] = tile[t ^ 1];
  __syncwarp();
  out[t] = u.data[t ^ 3];
}
int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return judge(out, 32, [](int i) { return i ^ 2; });
}
