// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 131
// Multiples of a quarter: every sum is exact.
#include "../twin.h"
__global__ void kernel(double* out) {
  __shared__ double s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 0.25 * threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s;
}
int main() {
  double* out = device<double>(1, [](int) { return 0.0; });
  kernel<<<1, 128>>>(out);
  return judge(out, 1, [](int) { return 127 * 16.0; });
}
