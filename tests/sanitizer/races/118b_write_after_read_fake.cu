// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// Two tiles by turns need one barrier in each round.
#include "../twin.h"

__global__ void kernel(int* out) {
  const int t = threadIdx.x;
  __shared__ int tile[2][64];
  for (int i = 0; i < 2; ++i) {
    tile[i % 2][t] = t + i;
    __syncthreads();
    out[64 * i + t] = tile[i % 2][63 - t];
  }
}

int main() {
  int* out = zeros(128);
  kernel<<<1, 64>>>(out);
  return judge(out, 128, [](int i) { return 63 - i % 64 + i / 64; });
}
