// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 106
// ld.global.nc of one half of an array while the kernel writes the other.
#include "../twin.h"

__global__ void kernel(int* data, int* out) {
  const int t = threadIdx.x;
  data[t + 32] = 100 + t;
  __syncthreads();
  out[t] = __ldg(data + (t ^ 1));
}

int main() {
  int *data = iota(64), *out = zeros(32);
  kernel<<<1, 32>>>(data, out);
  return judge(out, 32, [](int i) { return i ^ 1; });
}
