// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 85
// Half a warp shuffles under its own mask, both halves shuffle in arms of their own under a mask of all, and lanes that
// have ended are named by the last masks.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  const int t = threadIdx.x;
  int v = in[t];
  if (t < 16) {
    v += __shfl_xor_sync(0x0000ffff, v, 8);
  }
  WARP_SYNC(0xffffffff);
  if (t < 16) {
    out[t] = __shfl_xor_sync(0xffffffff, v, 2);
  } else {
    out[t] = __shfl_xor_sync(0xffffffff, v, 2) + 1;
  }
  WARP_SYNC(0xffffffff);
  if (t >= 24) return;
  v = __shfl_xor_sync(0xffffffff, v, 1);
  WARP_SYNC(0xffffffff);
  out[t] += v;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(iota(32), out);
  const auto v = [](int i) { return i < 16 ? i + (i ^ 8) : i; };
  const auto in_arm = [&](int i) { return v(i ^ 2) + (i >= 16); };
  return judge(out, 32, [&](int i) { return i < 24 ? in_arm(i) + v(i ^ 1) : in_arm(i); });
}
