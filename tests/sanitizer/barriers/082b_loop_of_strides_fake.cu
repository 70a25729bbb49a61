// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 82
// A loop by strides has a barrier in it, and all threads make all turns.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  int sum = 0;
  for (int first = 0; first < n; first += 64) {
    const int i = first + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    sum += s[0];
    __syncthreads();
  }
  s[t] = sum;
  __syncthreads();
  out[t] = s[63 - t];
}

int main() {
  int *in = iota(96), *out = zeros(64);
  kernel<<<1, 64>>>(in, out, 96);
  return judge(out, 64, [](int) { return 64; });
}
