// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// A recursive merge of halves waits for the halves at each level.
#include "../twin.h"

__device__ __noinline__ void sum(int* s, int n) {
  if (n > 1) {
    sum(s, n / 2);
    __syncthreads();
    const int t = threadIdx.x;
    if (t % n == 0) s[t] += s[t + n / 2];
  }
}

__global__ void kernel(int* out) {
  __shared__ int s[128];
  s[threadIdx.x] = 1;
  __syncthreads();
  sum(s, 128);
  if (threadIdx.x == 0) *out = s[0];
}

int main() {
  int* out = zeros(1);
  kernel<<<1, 128>>>(out);
  return judge(out, 1, [](int) { return 128; });
}
