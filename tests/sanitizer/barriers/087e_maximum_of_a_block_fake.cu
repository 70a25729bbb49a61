// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 87
// The maximum of a block in two steps: in the second one the lanes without a part take a neutral one, or have ended.
#include "../twin.h"

__global__ void kernel(const float* in, float* out, int n) {
  __shared__ float part[32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  float v = t < n ? in[t] : -1e30f;
  for (int d = 16; d; d /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
  if (lane == 0) part[warp] = v;
  __syncthreads();
  if (warp) return;
  v = lane < blockDim.x / 32 ? part[lane] : -1e30f;
  for (int d = 16; d; d /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
  if (lane == 0) *out = v;
}

int main() {
  float *in = device<float>(96, [](int i) { return i; }), *out = device<float>(1, [](int) { return 0; });
  kernel<<<1, 96>>>(in, out, 90);
  return judge(out, 1, [](int) { return 89; });
}
