// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// The storage of a sum and of an exchange is one union, with a barrier between the two uses.
#include "../twin.h"

union Storage {
  int sums[4];
  float exchange[128];
};

__global__ void kernel(const int* in, float* out) {
  __shared__ Storage s;
  const int t = threadIdx.x;
  const int sum = __reduce_add_sync(~0u, in[t]);
  if (t % 32 == 0) s.sums[t / 32] = sum;
  __syncthreads();
  const int total = s.sums[0] + s.sums[1] + s.sums[2] + s.sums[3];
  __syncthreads();
  s.exchange[t] = float(total + t);
  __syncthreads();
  out[t] = s.exchange[127 - t];
}

int main() {
  int* in = zeros(128);
  float* out = device<float>(128, [](int) { return 0.f; });
  kernel<<<1, 128>>>(in, out);
  return judge(out, 128, [](int i) { return 127 - i; });
}
