// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 123
// An index runs over the end of a row, into the next row of the same array.
#include "../twin.h"

__global__ void kernel(int* out, int skip) {
  __shared__ int tile[2][32];
  __shared__ int behind[32];
  const int t = threadIdx.x;
  tile[0][t] = tile[1][t] = t;
  behind[t] = t;
  __syncthreads();
  out[t] = tile[0][t + skip];
  out[t] += behind[t];
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out, 1);
  return judge(out, 32, [](int i) { return (i + 1) % 32 + i; });
}
